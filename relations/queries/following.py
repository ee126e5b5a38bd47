"""The whole following list, for readers that need all followees at once."""

from typing import NamedTuple

from redis.exceptions import RedisError

from infra.caching.questions import Question
from relations.cache import FOLLOWING
from relations.queries.cached_edge_list import (
    CachedEdgeList,
    EdgeListRead,
    load_part,
    read_whole,
)
from relations.queries.loaders import load_following_lists


class Following(NamedTuple):
    """An account's followees. The list is as new as `version`, or newer."""

    version: int
    followee_ids: list[int]


def load_following(account_id: int) -> Following:
    """All followees, newest first. Cost: one round trip; on a miss two queries and a second one."""
    read = read_whole(FOLLOWING, account_id)
    following = _find_cached(read) or load_part(
        account_id, read, lambda tokens: load_following_lists(account_id, tokens).all()
    )
    return Following(following.version, [listed.account_id for listed in following.items])


def ask_following_version(account_id: int) -> Question[int]:
    """The version of the following list.

    Cost: one command; two more queries and a trip when Redis lacks the list.
    """
    marker = FOLLOWING.ask_version_marker(account_id)
    # Caches an expired list again; else its reader would rebuild on every page.
    return marker.then(lambda read: read.version if read else load_following(account_id).version)


def _find_cached(read: EdgeListRead) -> CachedEdgeList | None:
    try:
        return read.find()
    except RedisError:
        return None
