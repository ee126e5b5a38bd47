"""Values of trends."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from posts.ids import PostId


class Trends(msgspec.Struct, frozen=True):
    """The best first. `tags`: normalized names. `posts`: public ids."""

    tags: Sequence[str] = ()
    posts: Sequence[str] = ()


class UsedTag(NamedTuple):
    """A tag, and how many accounts used it lately in public posts."""

    name: str
    accounts: int


class MarkedPost(NamedTuple):
    """A public post of the last days. `marks`: its favourites and reposts."""

    post_id: PostId
    marks: int
