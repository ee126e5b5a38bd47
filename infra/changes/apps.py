"""Django's registration of infra.changes, and of its part of /metrics."""

from importlib import import_module

from django.apps import AppConfig

from infra.telemetry.gauges import STORE_METRICS


class ChangesConfig(AppConfig):
    name = "infra.changes"
    label = "changes"

    def ready(self) -> None:
        STORE_METRICS.register(import_module("infra.changes.metrics").LagCollector())
