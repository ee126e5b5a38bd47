"""Registers posts with Django. Consumers and counts register on import."""

from importlib import import_module

from django.apps import AppConfig

from infra.api.live_parts import register_live_part, register_sealed_part


class PostsConfig(AppConfig):
    name = "posts"

    def ready(self) -> None:
        import_module("posts.consumers")
        import_module("posts.counter_rows")
        import_module("posts.queries.own_responses")
        for mark, fill in import_module("posts.api.live_parts").FILLS.items():
            register_live_part(mark, fill)
        places = import_module("posts.fragments.places")
        register_sealed_part(places.CUSTOM_BYTE, places.open_custom)
