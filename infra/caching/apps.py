"""Django's registration of infra.caching."""

from django.apps import AppConfig


class CachingConfig(AppConfig):
    name = "infra.caching"
    label = "caching"
