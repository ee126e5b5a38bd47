"""Registers posts with Django. Consumers and counts register on import."""

from importlib import import_module

from django.apps import AppConfig


class PostsConfig(AppConfig):
    name = "posts"

    def ready(self) -> None:
        import_module("posts.consumers")
        import_module("posts.counter_rows")
