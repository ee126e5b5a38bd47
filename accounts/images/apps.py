"""Django's registration of images."""

from django.apps import AppConfig
from django.core.checks import register

from accounts.images.checks import check_store


class ImagesConfig(AppConfig):
    name = "accounts.images"

    def ready(self) -> None:
        register(check_store, deploy=True)
