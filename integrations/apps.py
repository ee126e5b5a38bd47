"""Registers integrations with Django."""

from importlib import import_module

from django.apps import AppConfig

from infra.telemetry.gauges import STORE_METRICS


class IntegrationsConfig(AppConfig):
    name = "integrations"

    def ready(self) -> None:
        STORE_METRICS.register(import_module("integrations.metrics").WebhookCollector())
