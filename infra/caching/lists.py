"""Cache of ordered lists: a Redis sorted set that carries its version and how far it reaches.

The mark is a member with a negative score, -(version + 1), named `whole` (the list is all there
is), `newest` (older members exist in the source only) or `gone` (a tombstone: no list, but none
older than this may be laid). List and version live and die together; an empty list is a mark
alone. Members are fixed-width text, so that ties order alike everywhere.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from infra.caching.client import Command, load_script
from infra.caching.keys import key
from infra.caching.values import TOMBSTONE_MS, jittered_ms

WRITE = load_script(Path(__file__).with_name("lua") / "list_put.lua")
CHANGE = load_script(Path(__file__).with_name("lua") / "list_change.lua")

WHOLE = b"whole"
NEWEST = b"newest"
GONE = b"gone"


class Item(NamedTuple):
    """A list member; order is by (score, member), newest = highest first."""

    score: int
    member: bytes


class ListChange(NamedTuple):
    """What happened to a list between two consecutive versions."""

    before: int
    after: int
    added: Sequence[Item] = ()
    removed: Sequence[bytes] = ()


class ListCache(NamedTuple):
    """Commands on one family of lists; callers decide what to gather into a round trip."""

    family: str
    ttl_s: int
    max_items: int

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def write_command(
        self, owner: int, version: int, items: Sequence[Item], is_whole: bool
    ) -> Command:
        """Lays the list unless a newer version is there."""
        flat = [part for item in items for part in item]
        mark = WHOLE if is_whole else NEWEST
        return WRITE.on([self.key(owner)], version, mark, jittered_ms(self.ttl_s), *flat)

    def change_command(self, owner: int, change: ListChange) -> Command:
        """Updates a cached list in place; one at any other version than `before` is dropped."""
        flat = [part for item in change.added for part in item]
        head = (change.before, change.after, self.max_items, TOMBSTONE_MS, len(change.removed))
        return CHANGE.on([self.key(owner)], *head, *change.removed, *flat)

    def version_marker_command(self, owner: int) -> Command:
        """Reply for `read_mark`."""
        return ("ZRANGEBYSCORE", self.key(owner), "-inf", "(0", "WITHSCORES")

    def newest_command(self, owner: int, max_score: int | None, limit: int) -> Command:
        """Items with at most this score, newest first; reply for `read_items`."""
        upper = "+inf" if max_score is None else max_score
        return (
            "ZREVRANGEBYSCORE", self.key(owner), upper, 0, "WITHSCORES", "LIMIT", 0, limit,
        )  # fmt: skip


class ListVersionMarker(NamedTuple):
    version: int
    is_whole: bool


def read_version_marker(reply: Sequence[bytes]) -> ListVersionMarker | None:
    """None: the list is not cached."""
    if not reply or reply[0] == GONE:
        return None
    return ListVersionMarker(version_of(float(reply[1])), reply[0] == WHOLE)


def version_of(score: float) -> int:
    """The version that a mark's score stands for."""
    return -int(score) - 1


def read_items(reply: Sequence[bytes]) -> list[Item]:
    return [Item(int(float(reply[n + 1])), reply[n]) for n in range(0, len(reply), 2)]
