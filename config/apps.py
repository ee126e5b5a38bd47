"""Django's registration of config: makes Celery's application the current one."""

from django.apps import AppConfig

from config.celery import app as celery_app


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        celery_app.set_default()
