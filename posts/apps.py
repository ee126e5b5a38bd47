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
        # Quoted posts may have polls, and say who may reply.
        for part, fill in (("quote", "quotes"), ("poll", "polls"), ("approval", "approvals")):
            place = import_module(f"posts.api.{part}_place")
            live = import_module(f"posts.api.live_{fill}")
            register_live_part(place.FIRST_BYTE, getattr(live, f"fill_{fill}"))
