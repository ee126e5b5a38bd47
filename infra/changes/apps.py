"""Django's registration of infra.changes: its part of /metrics, and what feeds that."""

from importlib import import_module

from django.apps import AppConfig

from infra.telemetry.scraped import STORE_METRICS


class ChangesConfig(AppConfig):
    name = "infra.changes"
    label = "changes"

    def ready(self) -> None:
        import_module("infra.changes.lag_report")
        STORE_METRICS.register(import_module("infra.changes.metrics").LagCollector())
