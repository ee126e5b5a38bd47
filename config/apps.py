"""Django's registration of config. It sets up logs, metrics and tracing of a process."""

from importlib import import_module

import structlog
from django.apps import AppConfig
from django.conf import settings

from config.logs import configure_logs
from config.tracing import start_sentry, start_spans
from infra.telemetry.gauges import STORE_METRICS

log = structlog.get_logger()


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        configure_logs(settings.DEVELOPMENT, settings.LOG_LEVEL)
        if settings.WITHOUT_EFFECT:
            log.warning("settings.without_effect", names=settings.WITHOUT_EFFECT)
        STORE_METRICS.register(import_module("web.server_metrics").ServerMetricsCollector())
        if settings.SENTRY_DSN:
            start_sentry(settings.SENTRY_DSN)
        if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            start_spans()
