"""The Django app of relations. Its consumers and counts register on import."""

from importlib import import_module

from django.apps import AppConfig


class RelationsConfig(AppConfig):
    name = "relations"

    def ready(self) -> None:
        import_module("relations.consumers")
        import_module("relations.counter_rows")
        import_module("relations.queries.own_followers")
