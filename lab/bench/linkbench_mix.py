"""Draws LinkBench's operations with the distributions of its Facebook workload.

getlinklist is a page of a following or followers list, getlink a request of relationships.
countlink and getnode are an account with its counts. addlink, updatelink and deletelink are a
follow, a change of a follow, and an unfollow. Changes of nodes are left out: no relations.
The source of the numbers is in lab/bench/data/README.md.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.bench.draws import Zipf

FILE = Path(__file__).with_name("data") / "linkbench.properties"
KINDS = ("addlink", "deletelink", "updatelink", "countlink", "getlink", "getlinklist", "getnode")
READS = frozenset(("countlink", "getlink", "getlinklist", "getnode"))
MOST_TARGETS = 100


class Operation(NamedTuple):
    """`others`: the targets of getlink, or a write's followee. `is_older`: also the second page.

    `notify`: the new value of updatelink.
    """

    kind: str
    account_id: int
    others: tuple[int, ...] = ()
    is_followers: bool = False
    is_older: bool = False
    notify: bool | None = None


class Mix:
    """Operations on accounts of a graph. `actors`: the accounts that write and have tokens."""

    def __init__(
        self,
        following: Mapping[int, Sequence[int]],
        ids: Sequence[int],
        actors: Sequence[int],
        seed: int,
    ) -> None:
        self._dice = random.Random(seed)
        self._numbers = read_numbers()
        self._following = following
        self._ids = ids
        self._weights = [self._numbers[kind] for kind in KINDS]
        self._read = Zipf(ids, self._numbers["read_shape"], self._dice)
        self._node = Zipf(ids, self._numbers["node_read_shape"], self._dice)
        self._ask = Zipf(actors, self._numbers["read_shape"], self._dice)
        self._write = Zipf(actors, self._numbers["write_shape"], self._dice)

    def draw(self) -> Operation:
        kind = self._dice.choices(KINDS, self._weights)[0]
        if kind == "getlinklist":
            is_followers = self._dice.random() < 0.5
            is_older = self._dice.random() < self._numbers["getlinklist_history"]
            return Operation(kind, self._read.draw(), (), is_followers, is_older)
        if kind in ("countlink", "getnode"):
            return Operation(kind, self._node.draw())
        if kind == "getlink":
            return Operation(kind, self._ask.draw(), self._targets())
        return self._write_of(kind, self._write.draw())

    def _targets(self) -> tuple[int, ...]:
        count = 1
        while (
            count < MOST_TARGETS and self._dice.random() > self._numbers["link_multiget_dist_prob"]
        ):
            count += 1
        return tuple(self._dice.sample(self._ids, min(count, len(self._ids))))

    def _write_of(self, kind: str, account_id: int) -> Operation:
        """A new link has any target. Other writes mostly have a followee as target."""
        followees = self._following.get(account_id, ())
        pool = followees if followees and kind != "addlink" else self._ids
        other = self._dice.choice(pool)
        while other == account_id:
            other = self._dice.choice(self._ids)
        notify = self._dice.random() < 0.5 if kind == "updatelink" else None
        return Operation(kind, account_id, (other,), notify=notify)


def read_numbers() -> dict[str, float]:
    lines = (line.partition("#")[0].partition("=") for line in FILE.read_text().splitlines())
    return {name.strip(): float(value) for name, sign, value in lines if sign}
