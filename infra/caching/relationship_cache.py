"""Cache of what lies between an owner and others, one number a pair.

    family:v1:{owner}          hash: other → answer, of recently read pairs; `!` → the validator
    family:v1:{owner}:filter   Bloom filter of all related accounts (bloom.py)

A random validator guards both. A read creates one where there is none, and each change of any
pair of the owner replaces it, after its commit. A loader lays what it read from the source only
where the validator is still the one it read before it asked the source: had anything changed or had
the hash been lost, it would not be. So nothing has to be left behind for late loaders, no answer
carries a version, and whoever remembers answers may use them while the validator is the same.

Who is not in the filter is a stranger: no entry is stored and the source is not asked.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from infra.caching.bloom import OPEN_FILTER, capacity_for, hashes_of, make_filter, may_hold
from infra.caching.client import Command, load_script
from infra.caching.keys import key
from infra.caching.metrics import count_reads
from infra.caching.values import jittered_ms

READ = load_script(Path(__file__).with_name("lua") / "pairs_read.lua")
WRITE = load_script(Path(__file__).with_name("lua") / "pairs_put.lua")
CHANGE = load_script(Path(__file__).with_name("lua") / "pairs_change.lua")
VALIDATOR_BYTES = 8


class RelationshipCacheReply(NamedTuple):
    """What Redis said. `found`: answers; `unknown`: others not ruled out, to ask the source for.

    `filter_data` None: there is none, and `unknown` is everybody who was not found.
    """

    validator: bytes
    found: dict[int, bytes]
    unknown: list[int]
    filter_data: bytes | None


class RelationshipCache(NamedTuple):
    """Commands on one family. `max_pairs`: how many are kept, few enough for a packed hash.

    Owners with more than `max_filtered` relations have an open filter, and more pairs instead.
    """

    family: str
    ttl_s: int
    filter_ttl_s: int
    max_pairs: int
    max_filtered: int
    max_pairs_unfiltered: int

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def filter_key(self, owner: int) -> bytes:
        return key(self.family, owner, "filter")

    def validator_command(self, owner: int) -> Command:
        """Reply: the validator, None where nothing is cached."""
        return ("HGET", self.key(owner), "!")

    def read_command(self, owner: int, others: Sequence[int]) -> Command:
        """Reply for `read`. At most 1,000 others. Lays a validator where there is none."""
        validator = secrets.token_bytes(VALIDATOR_BYTES)
        return READ.on(self._keys(owner), validator, jittered_ms(self.ttl_s), *others)

    def read(self, others: Sequence[int], reply: Sequence[Any]) -> RelationshipCacheReply:
        """What is known of the others, strangers left out. Counts the reads."""
        validator, values, data = reply[0], reply[1:-1], reply[-1]
        found = {o: value for o, value in zip(others, values, strict=True) if value is not None}
        missing = [other for other in others if other not in found]
        count_reads(self.family, "redis", len(found), len(missing))
        if data is None:
            return RelationshipCacheReply(validator, found, missing, None)
        return RelationshipCacheReply(validator, found, self.rule_out(data, missing), data)

    def rule_out(self, data: bytes, others: Sequence[int]) -> list[int]:
        """Those of the others who are no certain strangers. Counts the reads."""
        left = [other for other in others if may_hold(data, other)]
        count_reads(self.family, "filter", len(others) - len(left), len(left))
        return left

    def make_filter(self, related: Sequence[int]) -> bytes:
        """A filter of all these members, who may repeat; an open one when they are too many."""
        if len(related) > self.max_filtered:
            return OPEN_FILTER
        members = set(related)
        return make_filter(members, capacity_for(len(members)))

    def write_command(
        self,
        owner: int,
        reading: RelationshipCacheReply,
        pairs: Mapping[int, int],
        made: bytes | None,
    ) -> Command:
        """Lays answers, and a filter that was `made`, unless anything changed since the reading."""
        is_open = (made or reading.filter_data) == OPEN_FILTER
        most = self.max_pairs_unfiltered if is_open else self.max_pairs
        flat = [item for pair in pairs.items() for item in pair]
        head = (reading.validator, jittered_ms(self.ttl_s), most, jittered_ms(self.filter_ttl_s))
        return WRITE.on(self._keys(owner), *head, made or b"", *flat)

    def change_command(self, owner: int, others: Iterable[int]) -> Command:
        """Forgets the answers about others and adds them to the filter. To be sent after the
        commit; may be sent again, or late."""
        flat = [item for other in others for item in (other, *hashes_of(other))]
        return CHANGE.on(self._keys(owner), secrets.token_bytes(VALIDATOR_BYTES), *flat)

    def _keys(self, owner: int) -> list[bytes]:
        return [self.key(owner), self.filter_key(owner)]
