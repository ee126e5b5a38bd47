"""The Django app of filters: an app of its own for its one table. Its parts register on import."""

from importlib import import_module

from django.apps import AppConfig


class FiltersConfig(AppConfig):
    name = "posts.filters"
    label = "filters"

    def ready(self) -> None:
        import_module("posts.filters.consumers")
        import_module("posts.filters.counter_rows")
