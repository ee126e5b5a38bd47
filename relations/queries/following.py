"""The whole following list, for readers that need all followees at once."""

from typing import Any, NamedTuple

from redis.exceptions import RedisError

from infra.caching.client import Command
from infra.caching.lists import read_version_marker
from relations.cache import FOLLOWING
from relations.queries.cached_edge_list import CachedEdgeList, find_whole
from relations.queries.loaders import load_following_lists


class Following(NamedTuple):
    """An account's followees. The list is as new as `version`, or newer."""

    version: int
    followee_ids: list[int]


def load_following(account_id: int) -> Following:
    """All followees, newest first. Cost: one round trip; on a miss two queries and a second one."""
    following = _find_cached(account_id) or load_following_lists(account_id).all()
    return Following(following.version, [listed.account_id for listed in following.items])


def version_command(account_id: int) -> Command:
    """For a batch with other commands; `read_version` takes the reply."""
    return FOLLOWING.version_marker_command(account_id)


def read_version(reply: Any) -> int | None:
    """None: the list is not cached."""
    marker = read_version_marker(reply)
    return marker.version if marker else None


def _find_cached(account_id: int) -> CachedEdgeList | None:
    try:
        return find_whole(FOLLOWING, account_id)
    except RedisError:
        return None
