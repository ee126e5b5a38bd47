"""Registers posts with Django. Consumers and counts register on import."""

from functools import partial
from importlib import import_module

from django.apps import AppConfig

from infra.api import sealed_json
from infra.api.live_parts import register_live_part, register_sealed_part


class PostsConfig(AppConfig):
    name = "posts"

    def ready(self) -> None:
        import_module("posts.consumers")
        import_module("posts.counter_rows")
        import_module("posts.queries.own_responses")
        for mark, fill in import_module("posts.api.live_parts").FILLS.items():
            register_live_part(mark, fill)
        reactions = import_module("posts.fragments.reactions")
        names = import_module("posts.queries.reactions")
        # Before the JSON of products is opened: its fields are not ours.
        open_reactions = partial(reactions.open_reactions, name_of=names.find_shown_name)
        register_sealed_part(reactions.REACTIONS_BYTE, open_reactions)
        register_sealed_part(sealed_json.MARK_BYTE, sealed_json.open_custom)
