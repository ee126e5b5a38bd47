"""Compares cached lists of relations with the rows, and lays anew those that differ."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from accounts.sql import ACCOUNTS
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import redis
from infra.caching.lists import ListCache, ListChange, read_items, read_version_marker
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from relations.cache import FOLLOWERS, FOLLOWING, QUIET, RELATIONSHIPS, to_listed
from relations.jobs.edge_sightings import snapshot
from relations.queries.edge_rows import BACKWARD_OPEN, read_follows, read_newest
from relations.queries.loaders import load_followers_list, load_following_lists
from relations.types import Attribute, ListedAccount


class CachedList(NamedTuple):
    """A list as Redis has it, newest first."""

    version: int
    is_whole: bool
    items: list[ListedAccount]


class CachedListKind(NamedTuple):
    """`read(alias, owner, limit)`: the list as the shard has it, `limit` of it where it is long."""

    cache: ListCache
    kind: CounterKind
    read: Callable[[int, int], list[ListedAccount]]
    load: Callable[[int], object]


def _read_following(owner_id: int, _: int) -> list[ListedAccount]:
    return list(read_follows(owner_id))


def _read_quiet(owner_id: int, _: int) -> list[ListedAccount]:
    return [one for one, how in read_follows(owner_id).items() if how is Attribute.WHISPER]


def _read_followers(owner_id: int, limit: int) -> list[ListedAccount]:
    return read_newest(BACKWARD_OPEN, owner_id, None, None, limit)


def _lay_followers(owner_id: int) -> object:
    return load_followers_list(owner_id, FOLLOWERS, False)


FAMILIES = (
    CachedListKind(FOLLOWING, CounterKind.FOLLOWING, _read_following, load_following_lists),
    CachedListKind(QUIET, CounterKind.FOLLOWING, _read_quiet, load_following_lists),
    CachedListKind(FOLLOWERS, CounterKind.FOLLOWERS, _read_followers, _lay_followers),
)


def rebuild_relation_caches(work: Work) -> Iterator[Batch]:
    """A batch of accounts each: their lists compared, and what is remembered of pairs dropped.

    What is not cached stays so. Readers see nothing of it: a list is replaced in one step, and who
    finds no pairs asks the shard. Raises: RedisError. Cost: two round trips a batch; a round trip
    and two queries for each list that is cached.
    """
    for alias, rows, position in walk_table(work, ACCOUNTS):
        owner_ids = [row[0] for row in rows]
        lists = [*_cached_lists(owner_ids)]
        wrong = [(o, family) for o, family in lists if _mend(alias, o, family, work.dry_run)]
        lines = [f"account {owner_id}: {family.cache.family}" for owner_id, family in wrong]
        pairs = [
            f"account {owner_id}: {RELATIONSHIPS.family}" for owner_id in _drop(owner_ids, work)
        ]
        yield Batch(len(rows), 0, alias, len(lines) + len(pairs), position, lines + pairs)


def _cached_lists(owner_ids: Sequence[int]) -> Iterator[tuple[int, CachedListKind]]:
    asked = [(owner_id, family) for owner_id in owner_ids for family in FAMILIES]
    marks = redis().run(
        [family.cache.version_marker_command(owner_id) for owner_id, family in asked]
    )
    for one, mark in zip(asked, marks, strict=True):
        if read_version_marker(mark) is not None:
            yield one


def _mend(alias: str, owner_id: int, family: CachedListKind, dry_run: bool) -> bool:
    """True: the list was, or would be, laid anew."""
    cached = _read_cached(family.cache, owner_id)
    if cached is None:  # dropped just now
        return False
    # After it: what is cached may be behind these rows, not ahead of them.
    with snapshot(alias):
        version = read_counts(alias, [owner_id], [family.kind])[owner_id][family.kind].version
        rows = family.read(owner_id, len(cached.items) + 1)
    if version == cached.version and _is_same(cached, rows):
        return False
    if not dry_run:
        if version < cached.version:
            # Of a shard that was restored: nothing can be laid over it, so it has to go first.
            gap = cached.version + 1
            redis().call(*family.cache.change_command(owner_id, ListChange(gap, gap)))
        family.load(owner_id)
    return True


def _read_cached(cache: ListCache, owner_id: int) -> CachedList | None:
    """The mark on both sides: a list dropped between the two would look like an empty one."""
    version_marker_command = cache.version_marker_command(owner_id)
    newest = cache.newest_command(owner_id, None, cache.max_items)
    before, members, after = redis().run([version_marker_command, newest, version_marker_command])
    mark = read_version_marker(before)
    if mark is None or before != after:
        return None
    return CachedList(
        mark.version, mark.is_whole, [to_listed(item) for item in read_items(members)]
    )


def _is_same(cached: CachedList, rows: Sequence[ListedAccount]) -> bool:
    """Of a list that is not whole the newest are cached."""
    return cached.items == list(rows if cached.is_whole else rows[: len(cached.items)])


def _drop(owner_ids: Sequence[int], work: Work) -> list[int]:
    """Those of whom anything is remembered. Who reads just now finds no stamp: lays nothing."""
    keys = [
        (RELATIONSHIPS.key(owner_id), RELATIONSHIPS.filter_key(owner_id)) for owner_id in owner_ids
    ]
    word = "EXISTS" if work.dry_run else "DEL"
    found = redis().run([(word, *both) for both in keys])
    return [owner_id for owner_id, count in zip(owner_ids, found, strict=True) if count]
