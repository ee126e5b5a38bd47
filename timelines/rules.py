"""May the viewer see it now? Pure: plain values in, verdicts out."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from posts.ids import PostId
from timelines.types import Entry


class Facts(NamedTuple):
    """What the verdicts rest on, as it is now.

    `fragments`: posts that exist. `accounts`: authors that exist. `followed`: authors followed.
    """

    viewer_id: int
    fragments: Mapping[PostId, bytes]
    accounts: Mapping[int, bytes]
    followed: Collection[int]


def is_visible_at_home(entry: Entry, facts: Facts) -> bool:
    """A post that exists, of oneself or of somebody one follows."""
    author_id = entry.event.author_id
    return (
        (author_id == facts.viewer_id or author_id in facts.followed)
        and entry.original in facts.fragments
        and entry.original.author_id in facts.accounts
    )
