"""Django's registration of infra.changes: its part of /metrics, and what feeds that."""

from importlib import import_module

from django.apps import AppConfig

from infra.sight.scraped import SCRAPED


class ChangesConfig(AppConfig):
    name = "infra.changes"
    label = "changes"

    def ready(self) -> None:
        import_module("infra.changes.lag_report")
        SCRAPED.register(import_module("infra.changes.metrics").LagCollector())
