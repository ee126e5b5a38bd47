"""Django's registration of config: sets up Celery and logs for the process."""

from django.apps import AppConfig
from django.conf import settings

from config.celery import app as celery_app
from config.logs import configure_logs
from config.stores import StoresCollector
from config.tracing import begin_sentry, begin_spans
from infra.telemetry.scraped import STORE_METRICS


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        celery_app.set_default()
        configure_logs(settings.DEVELOPMENT, settings.LOG_LEVEL)
        STORE_METRICS.register(StoresCollector())
        if settings.SENTRY_DSN:
            begin_sentry(settings.SENTRY_DSN)
        if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            begin_spans()
