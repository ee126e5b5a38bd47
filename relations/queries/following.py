"""The whole following list, for readers that need all followees at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.lists import read_version_marker
from infra.caching.viewer_validators import ViewerCopies, ViewerField
from relations.cache import FOLLOWING
from relations.queries.cached_edge_list import CachedEdgeList, find_whole
from relations.queries.loaders import load_following_lists

MOST_VERSIONS = 10_000
_versions: ViewerCopies[int] = ViewerCopies(FOLLOWING.family, MOST_VERSIONS)


class Following(NamedTuple):
    """An account's followees. The list is as new as `version`, or newer."""

    version: int
    followee_ids: list[int]


def load_following(account_id: int) -> Following:
    """All followees, newest first. Cost: one round trip; on a miss two queries and a second one."""
    following = _find_cached(account_id) or load_following_lists(account_id).all()
    return Following(following.version, [listed.account_id for listed in following.items])


class FollowingVersionRead(NamedTuple):
    """How the version of an account's following list is read: from process memory, or Redis."""

    account_id: int
    is_cached: bool

    @property
    def create(self) -> Sequence[ViewerField]:
        """Of the viewer's validators, for `validator_commands`."""
        return () if self.is_cached else (ViewerField.FOLLOWING,)

    def commands(self) -> list[Command]:
        """At most one, to be sent after the viewer's validators."""
        return [] if self.is_cached else [FOLLOWING.version_marker_command(self.account_id)]


def plan_following_version(account_id: int) -> FollowingVersionRead:
    return FollowingVersionRead(account_id, _versions.has(account_id))


def complete_following_version(
    read: FollowingVersionRead, validator: bytes | None, replies: Sequence[Any]
) -> int:
    """The version of the following list. `validator`: of the list, read in this request.

    Cost: nothing when it is cached here; one round trip when it has changed; two more queries and a
    trip when Redis lacks the list.
    """
    version = _versions.find(read.account_id, validator)
    if version is not None:
        return version
    marker = read_version_marker(replies[0] if replies else _read_marker(read.account_id))
    if marker is None:
        # Caches an expired list again; else its reader would rebuild on every page.
        return load_following(read.account_id).version
    _versions.keep(read.account_id, validator, marker.version)
    return marker.version


def _read_marker(account_id: int) -> Any:
    try:
        return redis().call(*FOLLOWING.version_marker_command(account_id))
    except RedisError:
        return ()


def _find_cached(account_id: int) -> CachedEdgeList | None:
    try:
        return find_whole(FOLLOWING, account_id)
    except RedisError:
        return None
