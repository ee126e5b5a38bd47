"""Django's registration of timelines."""

from django.apps import AppConfig


class TimelinesConfig(AppConfig):
    name = "timelines"
