"""The rules of relationships and counts.

relationship    a flag that no order of the writes explains
contradiction   a follow together with a block
counts          a number that is negative, or that the writes do not explain
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from lab.faults.history.calls import ClientCall
from lab.faults.history.edges import Edges
from lab.faults.history.entries import Entries, Written
from lab.faults.history.registers import Register
from lab.faults.history.violations import Violation


class FactChecker:
    """Checks answers about accounts. Cost: of counts, the accounts that the account ever knew."""

    def __init__(self, entries: Entries, edges: Edges) -> None:
        self._edges = edges
        self._posts = _PostCounts(entries)
        self._followers: dict[int, set[int]] = defaultdict(set)
        for owner, target in edges.pairs("follows"):
            self._followers[target].add(owner)

    def check(self, call: ClientCall) -> Iterator[Violation]:
        if call.kind == "relationship":
            yield from self._relationship(call)
        else:
            yield from self._counts(call)

    def _relationship(self, call: ClientCall) -> Iterator[Violation]:
        reader, other = call.account, call.target or 0
        edges = self._edges
        registers = {
            "following": edges.follows(reader, other),
            "followed_by": edges.followed_by(reader, other),
            "blocking": edges.blocks(reader, other),
            "blocked_by": edges.blocked_by(reader, other),
            "muting": edges.mutes(reader, other),
        }
        facts = {name: bool(call.facts[name]) for name in registers if name in call.facts}
        for name, value in facts.items():
            if not registers[name].may_be(value, call.began_s, call.ended_s):
                yield Violation("relationship", f"{name} of {other} is {value}", call)
        follows = facts.get("following") or facts.get("followed_by")
        if follows and (facts.get("blocking") or facts.get("blocked_by")):
            yield Violation("contradiction", f"a follow and a block of {other}", call)

    def _counts(self, call: ClientCall) -> Iterator[Violation]:
        account = call.account if call.target is None else call.target
        for name, value in call.facts.items():
            least, most = self._bounds(name, account, call)
            if not max(least, 0) <= value <= most:
                text = f"{name} of {account} is {value}, not {least} to {most}"
                yield Violation("counts", text, call)

    def _bounds(self, name: str, account: int, call: ClientCall) -> tuple[int, int]:
        is_own = account == call.account
        if name == "posts":
            return self._posts.bounds(account, is_own, call)
        if name == "following":
            others = self._edges.followees[account]
            pairs = ((account, other) for other in others)
        else:
            pairs = ((follower, account) for follower in self._followers[account])
        is_owner = is_own and name == "following"
        return _count([self._edges.register("follows", pair, is_owner) for pair in pairs], call)


def _count(registers: list[Register], call: ClientCall) -> tuple[int, int]:
    """How many must be on, and how many may be."""
    times = (call.began_s, call.ended_s)
    least = sum(register.must_be(True, *times) for register in registers)
    return least, sum(register.may_be(True, *times) for register in registers)


class _PostCounts:
    """How many entries an account may have had at a time, by the entries that answers named."""

    def __init__(self, entries: Entries) -> None:
        self._unknown = {a: sorted(begins) for a, begins in entries.unknown_begins().items()}
        entries_of: dict[int, list[Written]] = defaultdict(list)
        for entry in entries.by_id.values():
            entries_of[entry.poster].append(entry)
        self._times = {account: _Times.of(entries) for account, entries in entries_of.items()}

    def bounds(self, account: int, is_own: bool, call: ClientCall) -> tuple[int, int]:
        """At least, and at most."""
        times = self._times.get(account, _Times.of(()))
        shown = bisect_left(times.acked if is_own else times.due, call.began_s)
        least = shown - bisect_left(times.ended_from, call.ended_s)
        most = bisect_left(times.began, call.ended_s) - bisect_left(times.ended_by, call.began_s)
        return least, most + bisect_left(self._unknown.get(account, ()), call.ended_s)


class _Times(NamedTuple):
    """Of the entries of an account, sorted."""

    began: Sequence[float]
    acked: Sequence[float]
    due: Sequence[float]
    ended_from: Sequence[float]
    ended_by: Sequence[float]

    @classmethod
    def of(cls, entries: Sequence[Written]) -> Self:
        return cls(
            sorted(entry.began_s for entry in entries),
            sorted(entry.acked_s for entry in entries),
            sorted(entry.due_s for entry in entries),
            sorted(entry.ended_from_s for entry in entries),
            sorted(entry.ended_by_s for entry in entries),
        )
