"""Django's registration of relations."""

from django.apps import AppConfig


class RelationsConfig(AppConfig):
    name = "relations"
