"""Django's registration of infra.caching."""

from django.apps import AppConfig
from django.core.cache import close_caches
from django.core.signals import request_finished


class CachingConfig(AppConfig):
    name = "infra.caching"
    label = "caching"

    def ready(self) -> None:
        # Django asks its cache to close after each request, 10 µs; django-redis' keeps its
        # connections all the same.
        request_finished.disconnect(close_caches)
