"""Django's registration of imported posts; their consumers register on import."""

from importlib import import_module

from django.apps import AppConfig


class ExternalPostsConfig(AppConfig):
    name = "posts.external"
    label = "external_posts"

    def ready(self) -> None:
        import_module("posts.external.consumers")
