"""Writes the follows of another system, with their dates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from accounts.identities.queries import AccountDirectory
from accounts.jobs.import_objects import NOT_CREATED, ObjectDirectory, find_fault_of_kind
from accounts.sql import EXISTING_ACCOUNT_IDS
from infra.api.errors import ValidationFailed
from infra.declarations import TooManyDeclared
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import FollowRecord
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from relations.actions.follow import unfollow
from relations.actions.import_follows import (
    MOST_TOGETHER,
    WRITTEN,
    ImportedFollow,
    import_follows,
    judge_follows,
)
from relations.languages import check_languages
from relations.queries.edges import get_edge
from relations.types import Attribute, EdgeFlag

REASONS = {
    "blocking": "the follower blocks the followee",
    "blocked": "the followee blocks the follower",
    "too_many": "the follower follows as many accounts as FOLLOW_CAP allows",
}
Numbered = NumberedRecord[FollowRecord]
# Kind and external id; the kind of a person is empty.
Name = tuple[str, str]


class PlacedFollow(NamedTuple):
    """A follow and the number of its line."""

    number: int
    follow: ImportedFollow


class FollowImporter:
    """Writes follows, and ends them, in the order of their lines for each pair of accounts."""

    def __init__(self) -> None:
        self._accounts, self._objects = AccountDirectory(), ObjectDirectory()
        self._faults: dict[str, str] = {}
        self._now_ms, self._dry_run = 0, False

    def write(self, records: Sequence[Numbered], now_ms: int, dry_run: bool) -> WrittenBatch:
        """`now_ms`: the time of follows without one.

        Safety: idempotent; each statement is one transaction with the change that mirrors it.

        Cost: one query for external ids that were not seen; a query and a statement a shard for
        MOST_TOGETHER follows, at once; four statements for each end of a follow; as
        `ObjectDirectory.load` for each kind of objects.
        """
        self._now_ms, self._dry_run = now_ms, dry_run
        ids = self._load_ids(records)
        changed = 0
        refused: dict[int, str] = {}
        for group in _group_by_repeats(records):
            part = self._write_group(group, ids)
            changed, refused = changed + part.changed, {**refused, **part.refused}
        return WrittenBatch(changed, refused)

    def _load_ids(self, records: Sequence[Numbered]) -> Mapping[Name, int]:
        """Only those whose account exists on its shard by now."""
        wanted: dict[str, set[str]] = {}
        for kind, external_id in (name for _, record in records for name in _names_of(record)):
            wanted.setdefault(kind, set()).add(external_id)
        ids = {
            (kind, external_id): account_id
            for kind, external_ids in wanted.items()
            for external_id, account_id in self._load_of_kind(kind, external_ids).items()
        }
        calls = {
            alias: partial(fetch_all, alias, EXISTING_ACCOUNT_IDS, (account_ids,))
            for alias, account_ids in group_by_shard(ids.values()).items()
        }
        existing = {row[0] for rows in scatter(calls).values() for row in rows} | {NOT_CREATED}
        return {name: account_id for name, account_id in ids.items() if account_id in existing}

    def _load_of_kind(self, kind: str, external_ids: set[str]) -> Mapping[str, int]:
        """Notes in `_faults` why there are no objects of this kind."""
        if not kind:
            return self._accounts.load(external_ids)
        self._faults[kind] = find_fault_of_kind(kind)
        if self._faults[kind]:
            return {}
        try:
            return self._objects.load(kind, external_ids, creates=not self._dry_run)
        except TooManyDeclared as error:
            self._faults[kind] = f"there is no kind {kind!r}: {error}"
            return {}

    def _write_group(self, group: Sequence[Numbered], ids: Mapping[Name, int]) -> WrittenBatch:
        refused: dict[int, str] = {}
        ends, begun = [], []
        for numbered in group:
            reason = self._refusal(numbered.record, ids)
            if reason:
                refused[numbered.number] = reason
            elif numbered.record.ended:
                ends.append(numbered)
            else:
                begun.append(PlacedFollow(numbered.number, self._follow_of(numbered.record, ids)))
        changed = sum(self._end(numbered.record, ids) for numbered in ends)
        written = self._begin(begun)
        return WrittenBatch(changed + written.changed, {**refused, **written.refused})

    def _refusal(self, record: FollowRecord, ids: Mapping[Name, int]) -> str:
        for kind, external_id in _names_of(record):
            if (kind, external_id) not in ids:
                return self._refusal_of_missing(kind, external_id)
        if not record.object_kind and record.follower == record.followee:
            return "an account cannot follow itself"
        try:
            check_languages(record.languages)
        except ValidationFailed as error:
            return str(error)
        if record.since is not None and _milliseconds(record) > self._now_ms:
            return "since is in the future"
        return ""

    def _refusal_of_missing(self, kind: str, external_id: str) -> str:
        if not kind:
            return f"there is no account {external_id!r}: import accounts first"
        return self._faults[kind] or f"there is no object '{kind}:{external_id}' yet"

    def _follow_of(self, record: FollowRecord, ids: Mapping[Name, int]) -> ImportedFollow:
        flags = EdgeFlag.NOTIFIES if record.notify else EdgeFlag.NOTHING
        if not record.reposts:
            flags |= EdgeFlag.HIDES_REPOSTS
        follower, followee = _names_of(record)
        return ImportedFollow(
            ids[follower],
            ids[followee],
            self._now_ms if record.since is None else _milliseconds(record),
            record.since is not None,
            Attribute.WHISPER if record.quiet else Attribute.FOLLOW,
            flags,
            tuple(record.languages),
        )

    def _begin(self, placed: Iterable[PlacedFollow]) -> WrittenBatch:
        by_shard: dict[str, list[PlacedFollow]] = {}
        for item in sorted(placed, key=lambda item: item.follow):
            by_shard.setdefault(shard_of(item.follow.follower_id), []).append(item)
        parts = scatter({a: partial(self._begin_on, a, items) for a, items in by_shard.items()})
        outcomes = [outcome for part in parts.values() for outcome in part]
        changed = sum(outcome == WRITTEN for _, outcome in outcomes)
        return WrittenBatch(changed, {n: REASONS[o] for n, o in outcomes if o in REASONS})

    def _begin_on(self, alias: str, items: Sequence[PlacedFollow]) -> list[tuple[int, str]]:
        """The outcome of each line."""
        act = judge_follows if self._dry_run else import_follows
        outcomes: list[tuple[int, str]] = []
        for first in range(0, len(items), MOST_TOGETHER):
            some = items[first : first + MOST_TOGETHER]
            written = act(alias, [item.follow for item in some])
            outcomes += zip((item.number for item in some), written, strict=True)
        return outcomes

    def _end(self, record: FollowRecord, ids: Mapping[Name, int]) -> bool:
        """False: there is no such follow, or it began after that."""
        follower_id, followee_id = (ids[name] for name in _names_of(record))
        edge = get_edge(shard_of(follower_id), follower_id, followee_id)
        is_over = record.since is None or edge.since_ms <= _milliseconds(record)
        if not (edge.is_follow or edge.is_request) or not is_over:
            return False
        return self._dry_run or unfollow(follower_id, followee_id)


def _names_of(record: FollowRecord) -> tuple[Name, Name]:
    """Of the follower and of the followee."""
    return ("", record.follower), (record.object_kind, record.followee)


def _milliseconds(record: FollowRecord) -> int:
    return 0 if record.since is None else int(record.since.timestamp() * 1000)


def _group_by_repeats(records: Sequence[Numbered]) -> Iterator[list[Numbered]]:
    """The records in parts, so that no pair of accounts comes twice in one."""
    part: list[Numbered] = []
    pairs: set[tuple[Name, Name]] = set()
    for numbered in records:
        pair = _names_of(numbered.record)
        if pair in pairs:
            yield part
            part, pairs = [], set()
        part.append(numbered)
        pairs.add(pair)
    yield part
