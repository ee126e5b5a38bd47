"""Django's registration of notifications.push: an app of its own for its one table."""

from importlib import import_module

from django.apps import AppConfig


class PushConfig(AppConfig):
    name = "notifications.push"
    label = "push"

    def ready(self) -> None:
        import_module("notifications.push.consumers")
