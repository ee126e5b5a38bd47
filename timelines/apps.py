"""Registers timelines with Django. Consumers and periodic tasks register on import."""

from importlib import import_module

from django.apps import AppConfig
from django.core.checks import Tags, register

from infra.telemetry.gauges import STORE_METRICS


class TimelinesConfig(AppConfig):
    name = "timelines"

    def ready(self) -> None:
        import_module("timelines.consumers")
        import_module("timelines.recent.consumers")
        import_module("timelines.increments.consumers")
        import_module("timelines.hot.consumers")
        checks = import_module("timelines.checks")
        register(checks.check_recent_index, Tags.database)
        register(checks.check_cassandra, Tags.database)
        STORE_METRICS.register(import_module("timelines.sampling").HOLES_COLLECTOR)
