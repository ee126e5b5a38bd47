"""Cache of hashes that are complete or absent: field `!` holds the version they reflect.

A partial hash cannot exist: a hash is written whole, changed only from the version before, and
expires or is evicted as one key. So a field that is missing next to a `!` does not exist in the
source. Loaders write under load tokens.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from infra.caching.client import Command
from infra.caching.keys import jittered_ms, key, keys_of_parts
from infra.caching.load_tokens import END_LOAD, LoadTokens, token_key
from infra.caching.questions import Question, Replies
from infra.caching.scripts import load_script

_LUA = Path(__file__).with_name("lua")
WRITE = load_script(END_LOAD, _LUA / "hash_write.lua")
CHANGE = load_script(_LUA / "hash_change.lua")
HashFields = Sequence[bytes | None]


class HashChange(NamedTuple):
    """What changed in a hash from version `before` to version `after`."""

    before: int
    after: int
    added: Mapping[str, bytes]
    removed: Sequence[str]


class HashCache(NamedTuple):
    """One family of hashes. A hash belongs to one owner and one part."""

    family: str
    ttl_s: int

    def key(self, owner: int, part: int) -> bytes:
        return key(self.family, owner, part)

    def keys(self, wanted: Iterable[tuple[int, int]]) -> list[bytes]:
        """The keys of several hashes, each an owner and a part, in one step."""
        return keys_of_parts(self.family, list(chain.from_iterable(wanted)))

    def ask(self, owner: int, part: int, fields: Sequence[str]) -> Question[HashFields | None]:
        """The value, or None, of each requested field. None instead: the hash is not cached."""
        return Question([("HMGET", self.key(owner, part), "!", *fields)], _decode_fields)

    def write_commands(
        self, owner: int, part: int, tokens: LoadTokens, version: int, fields: Mapping[str, bytes]
    ) -> list[Command]:
        """Writes a hash that was loaded, unless anything happened since the load began.

        One command, none without a token.
        """
        where = self.key(owner, part)
        token = tokens.of(where)
        if not token:
            return []
        flat = [item for pair in fields.items() for item in pair]
        keys = [where, token_key(where)]
        return [WRITE.on(keys, token, version, jittered_ms(self.ttl_s), *flat)]

    def change_command(self, owner: int, part: int, change: HashChange) -> Command:
        """Updates a cached hash in place. A hash with another version than `before` is deleted."""
        flat = [item for pair in change.added.items() for item in pair]
        head = (change.before, change.after, len(change.removed))
        return CHANGE.on(self._keys(owner, part), *head, *change.removed, *flat)

    def drop_command(self, owner: int, part: int) -> Command:
        """Deletes the hash, and keeps loads in progress from writing it."""
        return ("DEL", *self._keys(owner, part))

    def _keys(self, owner: int, part: int) -> list[bytes]:
        where = self.key(owner, part)
        return [where, token_key(where)]


def _decode_fields(replies: Replies) -> HashFields | None:
    if not replies:
        return None
    version, *values = replies[0]
    return values if version is not None and version.isdigit() else None
