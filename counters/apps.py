"""Django's registration of counters."""

from django.apps import AppConfig


class CountersConfig(AppConfig):
    name = "counters"
