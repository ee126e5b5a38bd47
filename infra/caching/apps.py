"""Django's registration of infra.caching."""

from django.apps import AppConfig
from django.core.cache import close_caches
from django.core.signals import request_finished


class CachingConfig(AppConfig):
    name = "infra.caching"
    label = "caching"

    def ready(self) -> None:
        # Django closes its caches after each request. django-redis keeps its connections anyway, so
        # the signal would only cost time.
        request_finished.disconnect(close_caches)
