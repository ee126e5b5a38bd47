"""Registers notifications with Django. Consumers register on import."""

from importlib import import_module

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"

    def ready(self) -> None:
        import_module("notifications.consumers")
