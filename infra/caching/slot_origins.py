"""Makes sure that a node of a Redis Cluster has no old data in slots that came from another node.

    function library tideline_slots_{db}   the slots that the node has, and whose data may be used

A node that was promoted lacks the latest writes, so it is emptied before it is used
(server_identity.py). Its slots may leave it before that, and then their data are on a node whose
own identity is right. So a process uses a slot on a node only if the library of the node names it.
Slots that it does not name are emptied first.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

import structlog

from infra.caching.connection import Command
from infra.caching.server_identity import CLEAR, Ask, ask_or_raise, code_of, text_of
from infra.telemetry.reached_branches import reached

_KEYS_AT_ONCE = 10_000
_RANGE = re.compile(r"(\d+)-(\d+)")
log = structlog.get_logger()


def vouch_for(ask: Ask, database: int, slots: Collection[int]) -> None:
    """Returns when the node may be used for these slots, which are all that it has.

    Raises RedisConnectionError. Cost: one round trip if the node names them, else four.
    """
    library = f"tideline_slots_{database}"
    [libraries] = ask_or_raise(ask, ("FUNCTION", "LIST", "LIBRARYNAME", library, "WITHCODE"))
    named = set(_slots_in(text_of(libraries).decode()))
    if named == set(slots):
        return
    if arrived := set(slots) - named:
        reached("redis.slots_emptied")
        log.warning("redis.slots_emptied", slots=len(arrived), of=len(slots))
        _empty(ask, arrived, is_all=len(arrived) == len(slots))
    code = code_of(library, _ranges_of(slots))
    ask_or_raise(ask, ("FUNCTION", "LOAD", "REPLACE", code))


def _empty(ask: Ask, slots: Iterable[int], is_all: bool) -> None:
    if is_all:
        ask_or_raise(ask, CLEAR)
        return
    while slots:
        find = [("CLUSTER", "GETKEYSINSLOT", slot, _KEYS_AT_ONCE) for slot in sorted(slots)]
        keys_by_slot = dict(zip(sorted(slots), ask_or_raise(ask, *find), strict=True))
        slots = [slot for slot, keys in keys_by_slot.items() if keys]
        unlink: list[Command] = [("UNLINK", *keys_by_slot[slot]) for slot in slots]
        if unlink:
            ask_or_raise(ask, *unlink)


def _ranges_of(slots: Collection[int]) -> str:
    """As "0-99,200-200"."""
    ordered = sorted(slots)
    begins = [b for a, b in pairwise([-2, *ordered]) if b != a + 1]
    ends = [a for a, b in pairwise([*ordered, 1 << 20]) if b != a + 1]
    return ",".join(f"{first}-{last}" for first, last in zip(begins, ends, strict=True))


def _slots_in(code: str) -> Iterator[int]:
    for first, last in _RANGE.findall(code):
        yield from range(int(first), int(last) + 1)
