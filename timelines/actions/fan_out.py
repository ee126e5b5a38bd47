"""Pushes new entries to the authors' followers, or returns follow-up changes that do it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from django.conf import settings

from infra.changes.failpoints import failpoint
from infra.changes.registry import FollowUp
from infra.sharding.buckets import group_by_shard, moved_at_ms, shard_of
from infra.sharding.shards import shard_aliases
from relations.queries.followers import load_newest_followers
from timelines.changes import FanOutBegun, ShardMissed
from timelines.hot.actions.heat import heat_if_hot
from timelines.hot.entries import push_hot_entries
from timelines.recent.actions.settle_posts import Stopwatch
from timelines.recent.factory import recent_index
from timelines.stores.factory import timeline_store
from timelines.types import Entry

# At most this many lists of INLINE_FOLLOWERS are in memory together.
AUTHORS_TOGETHER = 16
EntriesByAuthor = Mapping[int, Sequence[Entry]]


def fan_out(
    posted: EntriesByAuthor, shards: Iterable[str], hot: Collection[int] = ()
) -> list[FollowUp]:
    """Pushes to the followers on these shards, as the authors' shard knows them now.

    Entries of `hot` authors go to their hot entries instead, which the followers' pages merge. The
    recent-posts index has the entries before any reader gets them. Returns follow-up changes for
    shards that do not answer, and for authors with more than INLINE_FOLLOWERS; all other readers
    have the entries on return.
    Safety: may run again; readers skip repeats. Cost: as the index; one query and one push for
    AUTHORS_TOGETHER authors. What took longer than SETTLE_MS is settled.
    """
    stopwatch = Stopwatch()
    added = recent_index().add(_entries_of(posted), shards)
    failpoint("fan_out.indexed")
    reached = {shard: count for shard, count in added.items() if count is not None}
    push_hot_entries({author: posted[author] for author in hot})
    follow_ups = _push_all(posted, tuple(reached), hot)
    failpoint("fan_out.pushed")
    unsettled = _settle(posted, reached, stopwatch)
    missed = [shard for shard, count in added.items() if count is None]
    return [*_wait_for(posted, [*missed, *unsettled]), *follow_ups]


def fan_out_to_missed_shard(
    posted: EntriesByAuthor, shard: str, hot: Collection[int] = ()
) -> list[FollowUp]:
    """Does the part of a fan-out that a shard missed. Raises OperationalError or InterfaceError
    while the shard does not answer.

    Safety and cost: as `fan_out`.
    """
    entries, stopwatch = _entries_of(posted), Stopwatch()
    added = recent_index().add_for(shard, entries)
    follow_ups = _push_all(posted, (shard,), hot)
    if stopwatch.is_late or added < len(entries):
        recent_index().settle_for(shard, [entry.event for entry in entries])
    return follow_ups


def push(entries: Sequence[Entry], reader_ids: Iterable[int], shards: Sequence[str]) -> None:
    """Pushes to the live readers on these shards, in a windowed pipeline."""
    _push_each([(entries, reader_ids)], shards)


def _push_all(
    posted: EntriesByAuthor, shards: tuple[str, ...], hot: Collection[int]
) -> list[FollowUp]:
    authors = [author_id for author_id in posted if author_id not in hot] if shards else []
    follow_ups: list[FollowUp] = []
    for alias, mine in group_by_shard(authors).items():
        for first in range(0, len(mine), AUTHORS_TOGETHER):
            follow_ups += _push_some(posted, alias, mine[first : first + AUTHORS_TOGETHER], shards)
    return follow_ups


def _push_some(
    posted: EntriesByAuthor, alias: str, authors: Sequence[int], shards: tuple[str, ...]
) -> list[FollowUp]:
    """Pushes for some authors of one shard; returns follow-up changes for the big ones."""
    most = settings.INLINE_FOLLOWERS
    followers = load_newest_followers(alias, authors, most + 1)
    small = [author_id for author_id in authors if len(followers[author_id]) <= most]
    big = [author_id for author_id in authors if len(followers[author_id]) > most]
    for author_id in big:
        heat_if_hot(author_id)
    _push_each([(posted[author_id], followers[author_id]) for author_id in small], shards)
    return [FollowUp(author_id, FanOutBegun(tuple(posted[author_id]), shards)) for author_id in big]


def _push_each(
    pushes: Sequence[tuple[Sequence[Entry], Iterable[int]]], shards: Sequence[str]
) -> None:
    """One windowed pipeline. Readers who get the same entries have the same list object, so that
    the store packs it once. A reader of several authors gets one list of all their entries."""
    added: dict[int, Sequence[Entry]] = {}
    joined: dict[tuple[int, int], Sequence[Entry]] = {}
    for entries, readers in pushes:
        fresh = dict.fromkeys(_on(readers, shards), entries)
        for reader in fresh.keys() & added.keys():
            pair = id(added[reader]), id(entries)
            if pair not in joined:
                joined[pair] = [*added[reader], *entries]
            fresh[reader] = joined[pair]
        added |= fresh
    timeline_store().push(added)
    failpoint("fan_out.page_pushed")


def _on(readers: Iterable[int], shards: Sequence[str]) -> Iterable[int]:
    """The readers on these shards, and all who ever moved: the change may be from before that, and
    then it may name the shard that a reader had."""
    if len(shards) == len(shard_aliases()):
        return readers
    return [
        reader_id
        for reader_id in readers
        if shard_of(reader_id) in shards or moved_at_ms(reader_id) is not None
    ]


def _settle(
    posted: EntriesByAuthor, added: Mapping[str, int], stopwatch: Stopwatch
) -> Sequence[str]:
    """Settles the entries where they are late, or where some had arrived before this run. Returns
    the shards that do not answer."""
    events = [entry.event for entry in _entries_of(posted)]
    late = [shard for shard, n in added.items() if stopwatch.is_late or n < len(events)]
    return recent_index().settle(late, events)


def _wait_for(posted: EntriesByAuthor, shards: Iterable[str]) -> list[FollowUp]:
    return [
        FollowUp(author_id, ShardMissed(tuple(entries), shard))
        for shard in shards
        for author_id, entries in posted.items()
    ]


def _entries_of(posted: EntriesByAuthor) -> list[Entry]:
    return list(chain.from_iterable(posted.values()))
