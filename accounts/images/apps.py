"""Django's registration of images; their consumer registers on import."""

from importlib import import_module

from django.apps import AppConfig
from django.core.checks import register

from accounts.images.checks import check_store


class ImagesConfig(AppConfig):
    name = "accounts.images"

    def ready(self) -> None:
        import_module("accounts.images.consumers")
        register(check_store, deploy=True)
