"""Counts as the account sees them that has just acted: its acts that are pending are in them.

The answer is made of cached counts, as for everybody. Only an account with pending acts gets an
answer that is changed afterwards: in every account and post that it shows. So no code that reads
counts knows of pending acts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from counters.queries.counts import Subject
from infra.caching.questions import Question, answer, ask_both
from infra.caller_acts import Acts, OwnAct, acts_of_request
from infra.changes.errors import UNREACHABLE
from infra.changes.own_acts import ask_own_act, keep_own_acts
from infra.telemetry.reached_branches import reached

Read = Callable[[int, Sequence[OwnAct]], int]
Show = Callable[[dict[str, Any], int], None]


class ShownCount(NamedTuple):
    """How a kind of count is shown. `show` writes it into the entity, which is parsed JSON.
    `id_of`: the entity's id, by subject.

    `read(account, acts)`: the count with these acts on it, from the shards. Raises: errors of
    UNREACHABLE.
    """

    show: Show
    id_of: Callable[[Subject], str]
    read: Read


_shown: dict[int, ShownCount] = {}
# Text that people write has no unescaped quotes.
_IDS = re.compile(rb'"id":"(\d+)"')
# By the id of an entity, how its counts are shown, and they.
Shown = Mapping[str, Sequence[tuple[Show, int]]]


def field_of(name: str) -> Show:
    """A count that is a field of its entity. Another entity with this id may not have it."""

    def show(entity: dict[str, Any], count: int) -> None:
        if name in entity:
            entity[name] = count

    return show


def register_shown_count(kind: int, shown: ShownCount) -> None:
    _shown[kind] = shown


def find_seen_count(account_id: int, act: OwnAct, cached: Question[int | None]) -> int | None:
    """The count as the account sees it before it acts; None if neither a noted act nor the cache
    has it. Cost: one round trip. Call it before the write: later the act may be in the cache."""
    noted, count = answer(ask_both(ask_own_act(account_id, act), cached))
    return count if noted is None else noted.shown


def show_own_acts(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with the pending acts of its reader. Cost: half a microsecond without any."""
    acts = acts_of_request()
    return with_own_acts(body, viewer_id, acts) if acts and viewer_id is not None else body


def with_own_acts(body: bytes, account_id: int, acts: Acts) -> bytes:
    """An answer, JSON, with these acts of the account. The same bytes if it shows none of them.

    Cost: to parse it, if it shows one; and `ShownCount.read` if its count is not known.
    """
    counts: dict[str, list[tuple[Show, int]]] = {}
    ids = set(_IDS.findall(body))
    for act, noted in acts.items():
        how = _shown.get(act.kind)
        if how is None or act.part:
            continue
        entity_id = how.id_of((act.owner_id, act.subject))
        if entity_id.encode() not in ids:
            continue
        shown = noted.shown if noted.shown is not None else _read(account_id, act, acts)
        if shown is not None:
            counts.setdefault(entity_id, []).append((how.show, shown))
    if not counts:
        return body
    reached("own_acts.shown")
    answered = orjson.loads(body)
    _fill(answered, counts)
    return orjson.dumps(answered)


def _read(account_id: int, counted: OwnAct, acts: Acts) -> int | None:
    """The count from the shards; None while they cannot be reached."""
    reached("own_acts.count_read")
    on_it = [act for act in acts if act._replace(part=0) == counted]
    try:
        shown = _shown[counted.kind].read(account_id, on_it)
    except UNREACHABLE:
        return None
    keep_own_acts(account_id, {counted: acts[counted]._replace(shown=shown)})
    return shown


def _fill(value: Any, counts: Shown) -> None:
    """Sets the counts of all entities in an answer. A repost has the counts of its original."""
    if isinstance(value, list):
        for part in value:
            _fill(part, counts)
    if not isinstance(value, dict):
        return
    reposted = value.get("reblog")
    counted = reposted if isinstance(reposted, dict) else value
    for show, count in counts.get(str(counted.get("id")), ()):
        show(value, count)
    for part in value.values():
        if isinstance(part, dict | list):
            _fill(part, counts)
