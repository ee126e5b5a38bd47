"""Cache of hashes that are complete or absent: field `!` holds the version they reflect.

A partial hash cannot exist: a hash is written whole, changed only from the version before, and
expires or is evicted as one key. So a field that is missing next to a `!` does not exist in the
source. A tombstone `~` means: there is no hash, and no hash older than this may be written.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from infra.caching.client import Command, load_script
from infra.caching.keys import key
from infra.caching.values import TOMBSTONE_MS, jittered_ms

WRITE = load_script(Path(__file__).with_name("lua") / "hash_write.lua")
CHANGE = load_script(Path(__file__).with_name("lua") / "hash_change.lua")


class HashChange(NamedTuple):
    """What changed in a hash from version `before` to version `after`."""

    before: int
    after: int
    added: Mapping[str, bytes]
    removed: Sequence[str]


class HashCache(NamedTuple):
    """Redis commands for one family of hashes. A hash belongs to one owner and one part."""

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
        """Writes the hash, unless the cache has a newer version."""
        flat = [item for pair in fields.items() for item in pair]
        return WRITE.on([self.key(owner, part)], version, jittered_ms(self.ttl_s), *flat)

    def change_command(self, owner: int, part: int, change: HashChange) -> Command:
        """Updates a cached hash in place. A hash with another version than `before` is deleted."""
        flat = [item for pair in change.added.items() for item in pair]
        head = (change.before, change.after, TOMBSTONE_MS, len(change.removed))
        return CHANGE.on([self.key(owner, part)], *head, *change.removed, *flat)


def read_fields(reply: Sequence[Any]) -> Sequence[bytes | None] | None:
    """The value, or None, of each requested field. None instead: the hash is not cached."""
    return reply[1:] if reply[0] is not None else None
