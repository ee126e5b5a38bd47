"""Django's registration of counters: their consumers and their part of /metrics."""

from importlib import import_module

from django.apps import AppConfig

from infra.api.live_parts import register_overlay
from infra.telemetry.gauges import STORE_METRICS


class CountersConfig(AppConfig):
    name = "counters"

    def ready(self) -> None:
        import_module("counters.consumers")
        register_overlay(import_module("counters.own_counts").show_own_acts)
        STORE_METRICS.register(import_module("counters.metrics").DRIFT_COLLECTOR)
