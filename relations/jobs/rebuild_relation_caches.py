"""Compares cached edge lists with the rows, and replaces those that differ."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from accounts.sql import ACCOUNTS
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.caching.client import redis
from infra.caching.lists import ListCache
from infra.caching.questions import answer_by_redis, ask_each
from infra.caching.viewer_validators import ViewerField, drop_validator_commands
from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from relations.cache import FOLLOWERS, FOLLOWING, QUIET, RELATIONSHIPS
from relations.jobs.edge_sightings import snapshot
from relations.queries.cached_edge_list import decode_members
from relations.queries.edge_rows import BACKWARD_OPEN, read_follows, read_newest
from relations.queries.loaders import load_followers_list, load_following_lists
from relations.types import Attribute, ListedAccount

# No list has this version, so one that cannot be read differs from its rows.
UNREADABLE = -1


class CachedMembers(NamedTuple):
    """A list as Redis has it, newest first."""

    version: int
    is_whole: bool
    items: list[ListedAccount]


class CachedListKind(NamedTuple):
    """`read(owner, limit)`: the list as the shard has it; of followers at most `limit`."""

    cache: ListCache
    kind: CounterKind
    read: Callable[[int, int], list[ListedAccount]]
    load: Callable[[int], object]


def _read_following(owner_id: int, _: int) -> list[ListedAccount]:
    return list(read_follows(owner_id))


def _read_quiet(owner_id: int, _: int) -> list[ListedAccount]:
    return [
        followee for followee, how in read_follows(owner_id).items() if how is Attribute.WHISPER
    ]


def _read_followers(owner_id: int, limit: int) -> list[ListedAccount]:
    return read_newest(BACKWARD_OPEN, owner_id, None, None, limit)


def _load_following(owner_id: int) -> object:
    return load_following_lists(owner_id, FOLLOWING.begin_load(owner_id))


def _load_followers(owner_id: int) -> object:
    return load_followers_list(owner_id, FOLLOWERS.begin_load(owner_id))


FAMILIES = (
    CachedListKind(FOLLOWING, CounterKind.FOLLOWING, _read_following, _load_following),
    CachedListKind(QUIET, CounterKind.FOLLOWING, _read_quiet, _load_following),
    CachedListKind(FOLLOWERS, CounterKind.FOLLOWERS, _read_followers, _load_followers),
)


def rebuild_relation_caches(work: Work) -> Iterator[Batch]:
    """A batch of accounts each: compares their lists, and drops their cached relationships.

    Lists that are not cached stay so. Readers notice nothing: a list is replaced in one step, and
    readers without cached relationships use the shard. Raises: RedisError. Cost: two round trips a
    batch; a round trip and two queries for each cached list.
    """
    for alias, rows, position in walk_table(work, ACCOUNTS):
        owner_ids = [row[0] for row in rows]
        lists = [*_cached_lists(owner_ids)]
        wrong = [(o, family) for o, family in lists if _repair(alias, o, family, work.dry_run)]
        _end_copies([owner_id for owner_id, _ in wrong], work)
        lines = [f"account {owner_id}: {family.cache.family}" for owner_id, family in wrong]
        dropped = _drop_relationships(owner_ids, work)
        lines += [f"account {owner_id}: {RELATIONSHIPS.family}" for owner_id in dropped]
        yield Batch(len(rows), 0, alias, len(lines), position, lines)


def _cached_lists(owner_ids: Sequence[int]) -> Iterator[tuple[int, CachedListKind]]:
    asked = {
        (owner_id, family): family.cache.ask_version_marker(owner_id)
        for owner_id in owner_ids
        for family in FAMILIES
    }
    markers = answer_by_redis(ask_each(asked))
    return (owner_id for owner_id, marker in markers.items() if marker is not None)


def _repair(alias: str, owner_id: int, family: CachedListKind, dry_run: bool) -> bool:
    """True: the list was replaced, or would be with a dry run."""
    cached = _read_cached(family.cache, owner_id)
    if cached is None:  # dropped just now
        return False
    # The rows are read after the cache: the cached list may be older than these rows, never newer.
    with snapshot(alias):
        version = read_counts(alias, [owner_id], [family.kind])[owner_id][family.kind].version
        rows = family.read(owner_id, len(cached.items) + 1)
    if version == cached.version and _is_same(cached, rows):
        return False
    if not dry_run:
        family.load(owner_id)
    return True


def _end_copies(owner_ids: Sequence[int], work: Work) -> None:
    """Ends the copies of lists in process memory, which may be of a wrong list."""
    if owner_ids and not work.dry_run:
        redis().run(drop_validator_commands(owner_ids, ViewerField.FOLLOWING))


def _read_cached(cache: ListCache, owner_id: int) -> CachedMembers | None:
    cached = answer_by_redis(cache.ask_all(owner_id))
    if cached is None:
        return None
    items = decode_members(cache.family, cached.items)
    if items is None:
        return CachedMembers(UNREADABLE, False, [])
    return CachedMembers(cached.version, cached.is_whole, items)


def _is_same(cached: CachedMembers, rows: Sequence[ListedAccount]) -> bool:
    """A list that is not cached whole has the newest items only."""
    return cached.items == list(rows if cached.is_whole else rows[: len(cached.items)])


def _drop_relationships(owner_ids: Sequence[int], work: Work) -> list[int]:
    """The owners whose relationships were cached.

    A read at the same time writes before that, or finds its validator gone and writes nothing.
    """
    keys = [
        (RELATIONSHIPS.key(owner_id), RELATIONSHIPS.filter_key(owner_id)) for owner_id in owner_ids
    ]
    word = "EXISTS" if work.dry_run else "DEL"
    exist = redis().run([(word, *both) for both in keys])
    if not work.dry_run:
        redis().run(drop_validator_commands(owner_ids, ViewerField.RELATIONSHIPS))
    return [owner_id for owner_id, count in zip(owner_ids, exist, strict=True) if count]
