"""Django's registration of operations."""

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "operations"
