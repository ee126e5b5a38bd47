"""Where a promotion may stand between the entries of a page, and by what id. Pure.

It never stands first or last, and its id is the one right below the entry above it. So a client
that takes it for a cursor, or sorts by ids, reads what it would have read without it.
"""

from collections.abc import Sequence
from itertools import pairwise

from posts.ids import SEQUENCES, PostId

SECOND_DIGITS = 6
NO_ROOM = ""


def list_anchors(ids: Sequence[str]) -> list[str]:
    """Of each gap of a page the id of the entry above it, NO_PLACE where there is no room.

    `ids`: of the page's entries, newest first. One gap less than entries.
    """
    return [above if _has_room(above, below) else NO_ROOM for above, below in pairwise(ids)]


def id_below(above: str) -> PostId:
    """The greatest id less than this one. It is of the same second: no author is 0."""
    second, author_id, sequence = PostId.from_public(above)
    if sequence:
        return PostId(second, author_id, sequence - 1)
    return PostId(second, author_id - 1, SEQUENCES - 1)


def _has_room(above: str, below: str) -> bool:
    """Whether there is an id between the two. Ids of different seconds are not taken apart."""
    return above[:SECOND_DIGITS] != below[:SECOND_DIGITS] or id_below(above).public > below
