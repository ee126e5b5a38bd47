"""The edges and mutes between two accounts, from the rows of both shards, for operators."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.probe import ProbeAnswer, probe_all
from infra.sharding.sql import fetch_all
from operations.types import Fact, Section
from relations.sql import SELECT_PAIR
from relations.types import Attribute, EdgeFlag


class EdgeRow(NamedTuple):
    """An edge with its state and flags, or a mute: whether it is on, and hides notifications."""

    table: str
    state: int
    flags: int
    revision: int
    since_ms: int
    until_ms: int


Rows = dict[str, EdgeRow]


def read_edges(first: int, second: int) -> list[Section]:
    """For each direction: the follower's row, its mirror on the followee's shard, and the mute.

    Cost: one query an account, on its shard.
    """
    pairs = ((first, second), (second, first))
    answers = _ask_shards(dict(pairs))
    return [section for pair in pairs for section in _direction(*pair, answers)]


def _ask_shards(others: Mapping[int, int]) -> dict[int, ProbeAnswer]:
    """Rows by account: those that its shard has about the other account."""
    groups = group_by_shard(others)
    calls = {
        alias: partial(_read, alias, [(owner, others[owner]) for owner in owners])
        for alias, owners in groups.items()
    }
    return {
        owner: answer if answer.problem else answer._replace(value=answer.value[owner])
        for alias, answer in probe_all(calls).items()
        for owner in groups[alias]
    }


def _read(alias: str, pairs: Iterable[tuple[int, int]]) -> dict[int, Rows]:
    return {owner: _rows(alias, owner, other) for owner, other in pairs}


def _rows(alias: str, owner: int, other: int) -> Rows:
    rows = fetch_all(alias, SELECT_PAIR, {"owner": owner, "other": other})
    return {row[0]: EdgeRow(*row) for row in rows}


def _direction(follower: int, followee: int, answers: dict[int, ProbeAnswer]) -> Iterator[Section]:
    own, mirror = answers[follower], answers[followee]
    title = f"{follower} → {followee}: the follower's row, on {shard_of(follower)}"
    yield _section(title, own, "forward")
    title = f"{follower} → {followee}: the mirror, on {shard_of(followee)}"
    section = _section(title, mirror, "backward")
    if not own.problem and not mirror.problem:
        section = section._replace(
            facts=[Fact("Mirror", _mirror_state(own, mirror)), *section.facts]
        )
    yield section
    yield _section(f"{follower} mutes {followee}: on {shard_of(follower)}", own, "mute")


def _section(title: str, answer: ProbeAnswer, table: str) -> Section:
    if answer.problem:
        return Section(title, problem=answer.problem)
    row: EdgeRow | None = answer.value.get(table)
    if row is None:
        return Section(title, [Fact("State", "no row")])
    return Section(title, [*(_of_mute(row) if table == "mute" else _of_edge(row))])


def _of_edge(row: EdgeRow) -> Iterator[Fact]:
    yield Fact("State", STATES[Attribute(row.state)])
    yield Fact("Flags", _flags(row.flags))
    yield Fact("Since", _moment(row.since_ms))
    yield Fact("Revision", row.revision)


def _of_mute(row: EdgeRow) -> Iterator[Fact]:
    yield Fact("State", "on" if row.state else "ended")
    yield Fact("Hides notifications", bool(row.flags))
    yield Fact("Since", _moment(row.since_ms))
    yield Fact("Until", _moment(row.until_ms) if row.until_ms else "ended")


STATES = {
    Attribute.NONE: "ended",
    Attribute.FOLLOW: "follow",
    Attribute.WHISPER: "quiet follow",
    Attribute.BLACK: "block",
    Attribute.REQUESTED: "follow request",
    Attribute.REQUESTED_QUIETLY: "quiet follow request",
}


def _mirror_state(own: ProbeAnswer, mirror: ProbeAnswer) -> str:
    forward, backward = own.value.get("forward"), mirror.value.get("backward")
    if forward is None and backward is None:
        return "agrees: there is no edge"
    if forward is None:
        return "WRONG: there is no such edge"
    if backward is None or backward.revision < forward.revision:
        return "behind: a change is pending, or audit edges will find it"
    return "agrees" if _facts(forward) == _facts(backward) else "WRONG: audit edges repairs it"


def _facts(row: EdgeRow) -> Sequence[Any]:
    return row[1:]


def _flags(flags: int) -> str:
    return (EdgeFlag(flags).name or "none").lower().replace("|", ", ").replace("_", " ")


def _moment(unix_ms: int) -> datetime:
    return datetime.fromtimestamp(unix_ms / 1000, UTC)
