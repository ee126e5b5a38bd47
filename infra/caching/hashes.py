"""Cache of hashes that are complete or absent: field `!` holds the version they reflect.

A partial hash cannot exist: it is laid whole, changed only from the version before, and expires
and is evicted as one key. A tombstone `~` stands where no hash is, but none older may be laid.
So a field that is missing beside a `!` does not exist in the source.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from infra.caching.client import Command, load_script
from infra.caching.keys import key
from infra.caching.values import TOMBSTONE_MS, jittered_ms

WRITE = load_script(Path(__file__).with_name("lua") / "hash_put.lua")
CHANGE = load_script(Path(__file__).with_name("lua") / "hash_change.lua")


class HashChange(NamedTuple):
    """What happened between two consecutive versions."""

    before: int
    after: int
    added: Mapping[str, bytes]
    removed: Sequence[str]


class HashCache(NamedTuple):
    """Commands on one family of hashes, each of one owner and one part."""

    family: str
    ttl_s: int

    def key(self, owner: int, part: int) -> bytes:
        return key(self.family, owner, part)

    def read_command(self, owner: int, part: int, fields: Sequence[str]) -> Command:
        """Reply for `read_fields`."""
        return ("HMGET", self.key(owner, part), "!", *fields)

    def write_command(
        self, owner: int, part: int, version: int, fields: Mapping[str, bytes]
    ) -> Command:
        """Lays the hash unless a newer version is there."""
        flat = [item for pair in fields.items() for item in pair]
        return WRITE.on([self.key(owner, part)], version, jittered_ms(self.ttl_s), *flat)

    def change_command(self, owner: int, part: int, change: HashChange) -> Command:
        """Updates a cached hash in place; one at any other version than `before` is dropped."""
        flat = [item for pair in change.added.items() for item in pair]
        head = (change.before, change.after, TOMBSTONE_MS, len(change.removed))
        return CHANGE.on([self.key(owner, part)], *head, *change.removed, *flat)


def read_fields(reply: Sequence[Any]) -> Sequence[bytes | None] | None:
    """One value or None per field asked for; None: the hash is not cached."""
    return reply[1:] if reply[0] is not None else None
