"""Registers posts with Django. Consumers and counts register on import."""

from importlib import import_module

from django.apps import AppConfig

from infra.api.live_parts import register_live_part


class PostsConfig(AppConfig):
    name = "posts"

    def ready(self) -> None:
        import_module("posts.consumers")
        import_module("posts.counter_rows")
        import_module("posts.queries.own_responses")
        # Quoted posts may have polls.
        quotes = import_module("posts.api.quote_place")
        register_live_part(quotes.FIRST_BYTE, import_module("posts.api.live_quotes").fill_quotes)
        place = import_module("posts.api.poll_place")
        register_live_part(place.FIRST_BYTE, import_module("posts.api.live_polls").fill_polls)
