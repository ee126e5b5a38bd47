"""Django's registration of timelines.tags: an app of its own, with its tables and consumers."""

from importlib import import_module

from django.apps import AppConfig


class TagsConfig(AppConfig):
    name = "timelines.tags"
    label = "tags"

    def ready(self) -> None:
        import_module("timelines.tags.consumers")
