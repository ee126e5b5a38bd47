"""Django's registration of operations.moves, and its part of /metrics."""

from importlib import import_module

from django.apps import AppConfig

from infra.telemetry.gauges import STORE_METRICS


class MovesConfig(AppConfig):
    name = "operations.moves"
    label = "moves"

    def ready(self) -> None:
        STORE_METRICS.register(import_module("operations.moves.metrics").MovesCollector())
