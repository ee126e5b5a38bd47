"""The whole following list, for readers that need all followees at once."""

from functools import partial
from typing import NamedTuple

from redis.exceptions import RedisError

from infra.caching.lists import ListVersionMarker
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, Replies, answer
from infra.caching.viewer_validators import ValidatorsQuestion, ViewerCopies, ViewerField
from relations.cache import FOLLOWING
from relations.queries.cached_edge_list import (
    CachedEdgeList,
    EdgeListRead,
    load_part,
    read_whole,
)
from relations.queries.loaders import load_following_lists

MOST_VERSIONS = most_entries("relations.following", share=0.01, bytes_each=150)
_versions: ViewerCopies[int] = ViewerCopies(FOLLOWING.family, MOST_VERSIONS)


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


def ask_following_version(account_id: int, validators: ValidatorsQuestion) -> Question[int]:
    """The version of the following list. `validators`: asked before in the same round trip.

    Cost: no command when it is cached here, one round trip more when that has changed; two more
    queries and a trip when Redis lacks the list.
    """
    if _versions.has(account_id):
        return Question((), partial(_confirm, account_id, validators))
    validators.create(ViewerField.FOLLOWING)
    marker = FOLLOWING.ask_version_marker(account_id)
    return marker.then(partial(_keep, account_id, validators))


def ask_current_following_version(account_id: int) -> Question[int]:
    """As `ask_following_version`, for readers that this process does not keep. One command."""
    marker = FOLLOWING.ask_version_marker(account_id)
    return marker.then(lambda read: read.version if read else load_following(account_id).version)


def _confirm(account_id: int, validators: ValidatorsQuestion, _: Replies) -> int:
    """The version in memory, if it is valid; else the one that Redis has now."""
    version = _versions.find(account_id, validators.value.following)
    if version is not None:
        return version
    return _keep(account_id, validators, answer(FOLLOWING.ask_version_marker(account_id)))


def _keep(account_id: int, validators: ValidatorsQuestion, marker: ListVersionMarker | None) -> int:
    if marker is None:
        # Caches an expired list again; else its reader would rebuild on every page.
        return load_following(account_id).version
    _versions.keep(account_id, validators.value.following, marker.version)
    return marker.version


def _find_cached(read: EdgeListRead) -> CachedEdgeList | None:
    try:
        return read.find()
    except RedisError:
        return None
