"""Django's registration of operations, and of the samples that compensators take for it."""

from importlib import import_module

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "operations"

    def ready(self) -> None:
        import_module("operations.samples")
