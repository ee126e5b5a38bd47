"""Django's registration of counters: their consumers, their part of /metrics, the sampling."""

from importlib import import_module

from django.apps import AppConfig

from infra.telemetry.scraped import STORE_METRICS


class CountersConfig(AppConfig):
    name = "counters"

    def ready(self) -> None:
        import_module("counters.consumers")
        import_module("counters.sampling")
        STORE_METRICS.register(import_module("counters.metrics").DRIFT_COLLECTOR)
