"""Which imported posts are news, and which are history."""

from collections.abc import Iterable
from typing import NamedTuple

from posts.ids import PostId

FRESH_S = 3_600


class PostsByAge(NamedTuple):
    fresh: list[PostId]
    old: list[PostId]


def split_by_age(ids: Iterable[PostId], now_s: float) -> PostsByAge:
    """`fresh`: those of the last FRESH_S."""
    by_age = PostsByAge([], [])
    for post_id in ids:
        (by_age.fresh if post_id.posted_at_s > now_s - FRESH_S else by_age.old).append(post_id)
    return by_age


def may_be_old(created_at_s: float, now_s: float) -> bool:
    """Whether a post may be old when its change is delivered, half an hour later at most."""
    return created_at_s < now_s - FRESH_S / 2
