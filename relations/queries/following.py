"""The whole following list, for whoever needs all followees at once (pull)."""

from typing import Any, NamedTuple

from redis.exceptions import RedisError

from infra.caching.client import Command
from infra.caching.lists import read_version_marker
from relations.cache import FOLLOWING
from relations.queries.cached_edge_list import CachedEdgeList, find_whole
from relations.queries.loaders import load_following_lists


class Following(NamedTuple):
    """An account's followees, and a version the list is not older than."""

    version: int
    followee_ids: list[int]


def load_following(account_id: int) -> Following:
    """All followees, newest first. Cost: one round trip; on a miss two queries and a second one."""
    held = _find_held(account_id) or load_following_lists(account_id).all()
    return Following(held.version, [listed.account_id for listed in held.items])


def _find_held(account_id: int) -> CachedEdgeList | None:
    try:
        return find_whole(FOLLOWING, account_id)
    except RedisError:
        return None


def version_command(account_id: int) -> Command:
    """For gathering into a larger round trip; reply for `read_version`."""
    return FOLLOWING.version_marker_command(account_id)


def read_version(reply: Any) -> int | None:
    """None: the list is not cached."""
    mark = read_version_marker(reply)
    return mark.version if mark else None
