"""Who follows, blocks and mutes, as two readers find it: the owner of the edge, and others.

A block also ends the follow in both directions. The owner of a write sees it at the next read,
other accounts when it is due.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from math import inf
from typing import NamedTuple

from lab.faults.history.calls import ClientCall
from lab.faults.history.promises import Pair, Promises, StartingWorld
from lab.faults.history.registers import UNWRITTEN, FactWrite, Register


class _Write(NamedTuple):
    """`by_owner_s`, `by_other_s`: when the owner of the edge, and its target, must see it."""

    began_s: float
    ended_s: float
    by_owner_s: float
    by_other_s: float
    value: bool

    def for_owner(self) -> FactWrite:
        return FactWrite(self.began_s, self.ended_s, self.by_owner_s, self.value)

    def for_other(self) -> FactWrite:
        return FactWrite(self.began_s, self.ended_s, self.by_other_s, self.value)


# kind of call: family of the edge, value.
_KINDS = {
    "follow": ("follows", True),
    "unfollow": ("follows", False),
    "block": ("blocks", True),
    "unblock": ("blocks", False),
    "mute": ("mutes", True),
    "unmute": ("mutes", False),
}
Writes = dict[str, dict[Pair, list[_Write]]]


class Edges:
    """The registers of all edges, by (owner, target). Built once, then only read."""

    def __init__(
        self, calls: Iterable[ClientCall], promises: Promises, world: StartingWorld
    ) -> None:
        self._writes: Writes = {name: defaultdict(list) for name in ("follows", "blocks", "mutes")}
        self._followed = world.follows
        for call in calls:
            self._add(call, promises)
        self.followees: dict[int, set[int]] = defaultdict(set)
        for owner, target in {*self._followed, *self._writes["follows"]}:
            self.followees[owner].add(target)
        self.register = cache(self._build)

    def follows(self, owner: int, target: int) -> Register:
        """As the owner finds it."""
        return self.register("follows", (owner, target), True)

    def blocks(self, owner: int, target: int) -> Register:
        """As the owner finds it."""
        return self.register("blocks", (owner, target), True)

    def mutes(self, owner: int, target: int) -> Register:
        """Only the owner knows of it."""
        return self.register("mutes", (owner, target), True)

    def followed_by(self, reader: int, other: int) -> Register:
        """Whether the other follows the reader, as the reader finds it."""
        return self.register("follows", (other, reader), False)

    def blocked_by(self, reader: int, other: int) -> Register:
        """Whether the other blocks the reader, as the reader finds it."""
        return self.register("blocks", (other, reader), False)

    def pairs(self, family: str) -> set[Pair]:
        """All edges that were ever written, or there at the begin."""
        return {*self._writes[family], *(self._followed if family == "follows" else ())}

    def _build(self, family: str, pair: Pair, is_owner: bool) -> Register:
        writes = self._writes[family].get(pair)
        initial = family == "follows" and pair in self._followed
        if not writes and not initial:
            return UNWRITTEN
        own = _Write.for_owner if is_owner else _Write.for_other
        return Register(initial, map(own, writes or ()))

    def _add(self, call: ClientCall, promises: Promises) -> None:
        if call.kind not in _KINDS or call.outcome == "failed" or call.target is None:
            return
        family, value = _KINDS[call.kind]
        pair = (call.account, call.target)
        is_sure = call.outcome == "ok"
        ended_s = call.ended_s if is_sure else inf
        due_s = promises.due_s(ended_s) if is_sure else inf
        write = _Write(call.began_s, ended_s, ended_s, due_s, value)
        self._writes[family][pair].append(write)
        if call.kind == "block":
            self._end_follows(pair, write)

    def _end_follows(self, pair: Pair, block: _Write) -> None:
        """The opposite follow ends when the block is mirrored, also one that began before that."""
        due_s = block.by_other_s
        self._writes["follows"][pair].append(block._replace(value=False))
        self._writes["follows"][pair[1], pair[0]].append(
            _Write(block.began_s, due_s, due_s, block.by_owner_s, False)
        )
