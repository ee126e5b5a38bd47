"""Values of posts."""

import msgspec


class Draft(msgspec.Struct, frozen=True):
    """What an author wants to publish; already validated (`posts.actions.check_draft`)."""

    text: str
    sensitive: bool = False
    spoiler_text: str = ""
    language: str | None = None
