"""Django's registration of timelines; its consumers register on import."""

from importlib import import_module

from django.apps import AppConfig


class TimelinesConfig(AppConfig):
    name = "timelines"

    def ready(self) -> None:
        import_module("timelines.consumers")
        import_module("timelines.recent.consumers")
        import_module("timelines.recent.retention")
        import_module("timelines.increments.consumers")
