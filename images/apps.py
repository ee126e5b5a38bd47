"""Django's registration of images."""

from django.apps import AppConfig


class ImagesConfig(AppConfig):
    name = "images"
