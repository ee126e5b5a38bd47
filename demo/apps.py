"""Django's registration of demo."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "demo"
