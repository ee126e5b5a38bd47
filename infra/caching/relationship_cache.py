"""Cache of the relationships between an owner and other accounts, one number per pair.

    family:v1:{owner}          hash: other → answer, for recently read pairs
    family:v1:{owner}:filter   Bloom filter of all related accounts (bloom.py)

A random validator guards both (viewer_validators.py). A read creates one where there is none, and
each change of any pair of the owner removes it, after the commit. A loader reads the validator
before it reads the source. Redis refuses the loader's write if the validator is a different one by
then: something changed, or the validator was lost. So no tombstone is needed and an answer has no
version. A process may use answers it remembers as long as the validator is the same.

An account that is not in the filter is unrelated: no entry is stored and the source is not read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from infra.caching.bloom import (
    OPEN_FILTER,
    capacity_for,
    check_filter,
    count_members,
    hashes_of,
    make_filter,
    may_hold,
)
from infra.caching.client import Command
from infra.caching.decoding import decode
from infra.caching.keys import jittered_ms, key
from infra.caching.load_tokens import token_key
from infra.caching.metrics import count_reads
from infra.caching.questions import Question, Replies
from infra.caching.remembered import confirm_script_by
from infra.caching.scripts import load_script
from infra.caching.viewer_validators import TTL_MS, ViewerField, make_validator, viewer_key

V = TypeVar("V")
READ = load_script(Path(__file__).with_name("lua") / "relationships_read.lua")
WRITE = load_script(Path(__file__).with_name("lua") / "relationships_write.lua")
CHANGE = load_script(Path(__file__).with_name("lua") / "relationships_change.lua")
_FIELD = ViewerField.RELATIONSHIPS.value
# The validator says whether anything of the owner has changed. The third key has it.
confirm_script_by(READ.sha, lambda call, reply: (("HGET", call[5], _FIELD), reply[0]))


class RelationshipCacheReply(NamedTuple, Generic[V]):
    """`cached`: cached answers. `unknown`: others to read from the source.

    `filter_data` None: there is no filter, and `unknown` is every account without a cached answer.
    `is_empty`: nothing is cached of any other account. `stored`: all answers that Redis returned,
    by account as text, not checked.
    """

    validator: bytes
    cached: dict[int, V]
    unknown: list[int]
    filter_data: bytes | None
    is_empty: bool
    stored: Mapping[bytes, bytes] = {}


class RelationshipCache(NamedTuple, Generic[V]):
    """One family. `max_pairs`: few enough for Redis's compact hash encoding.

    Owners with more than `max_filtered` related accounts have an open filter and more pairs.
    `read` decodes an answer, and raises for one that cannot be decoded: such an answer is a miss.
    """

    family: str
    ttl_s: int
    filter_ttl_s: int
    max_pairs: int
    max_filtered: int
    max_pairs_unfiltered: int
    read: Callable[[bytes], V]

    def key(self, owner: int) -> bytes:
        return key(self.family, owner)

    def filter_key(self, owner: int) -> bytes:
        return key(self.family, owner, "filter")

    def ask(
        self, owner: int, others: Sequence[int], is_again: bool = False
    ) -> Question[RelationshipCacheReply[V] | None]:
        """What is cached of 1 to 1,000 others. Creates a validator if there is none.

        Accounts that the filter rules out are in neither part of the answer. None: without Redis.
        Counts the reads, unless they were counted before (`is_again`).
        """
        head = _FIELD, make_validator(), TTL_MS, 2 * self.max_pairs
        command = READ.on(self._keys(owner), *head, *others)
        return Question([command], partial(self._decode, others, is_again))

    def _decode(
        self, others: Sequence[int], is_again: bool, replies: Replies
    ) -> RelationshipCacheReply[V] | None:
        if not replies:
            return None
        validator, data, count, *flat = replies[0]
        stored = dict(zip(flat[::2], flat[1::2], strict=True))
        cached = self._find_cached(stored, others)
        missing = _missing(others, cached)
        if not is_again:
            count_reads(self.family, "redis", len(cached), len(missing))
        if data is None or decode(self.family, check_filter, data) is None:
            return RelationshipCacheReply(validator, cached, missing, None, not count, stored)
        unknown = find_related(data, missing) if is_again else self.rule_out(data, missing)
        return RelationshipCacheReply(validator, cached, unknown, data, not count, stored)

    def find_more(
        self, reading: RelationshipCacheReply[V], others: Sequence[int]
    ) -> RelationshipCacheReply[V]:
        """What the same reply says of other accounts than those that were asked for."""
        cached, data = self._find_cached(reading.stored, others), reading.filter_data
        missing = _missing(others, cached)
        unknown = missing if data is None else find_related(data, missing)
        return reading._replace(cached=cached, unknown=unknown)

    def _find_cached(self, stored: Mapping[bytes, bytes], others: Sequence[int]) -> dict[int, V]:
        get = stored.get
        answers = {i: text for i in others if (text := get(b"%d" % i)) is not None}
        read = decode(self.family, self._read_all, answers)
        if read is not None:
            return read
        each = ((other, decode(self.family, self.read, text)) for other, text in answers.items())
        return {other: answer for other, answer in each if answer is not None}

    def _read_all(self, answers: Mapping[int, bytes]) -> dict[int, V]:
        """Raises if one cannot be decoded."""
        return dict(zip(answers, map(self.read, answers.values()), strict=True))

    def rule_out(self, data: bytes, others: Sequence[int]) -> list[int]:
        """The others that may be related, by a filter. Counts the reads."""
        left = find_related(data, others)
        count_reads(self.family, "filter", len(others) - len(left), len(left))
        return left

    def make_filter(self, related: Sequence[int]) -> bytes:
        """A filter of these accounts (duplicates allowed), or an open one if they are too many."""
        if len(related) > self.max_filtered:
            return OPEN_FILTER
        members = set(related)
        return make_filter(members, capacity_for(len(members)))

    def write_command(
        self,
        owner: int,
        reading: RelationshipCacheReply[V],
        pairs: Mapping[int, bytes],
        made: bytes | None,
    ) -> Command:
        """Writes answers, and the new filter `made`, unless anything changed since the reading."""
        is_open = (made or reading.filter_data) == OPEN_FILTER
        most = self.max_pairs_unfiltered if is_open else self.max_pairs
        flat = [item for pair in pairs.items() for item in pair]
        ttls = jittered_ms(self.ttl_s), jittered_ms(self.filter_ttl_s)
        head = (_FIELD, reading.validator, ttls[0], most, ttls[1], made or b"")
        return WRITE.on(self._keys(owner), *head, *flat)

    @property
    def most_whole(self) -> int:
        """The most related accounts of an owner who has all of them in the hash. A part of it
        stays free: a full hash is emptied."""
        return self.max_pairs * 3 // 4

    def may_be_whole(self, data: bytes) -> bool:
        """Whether the filter has few enough members for it."""
        return data != OPEN_FILTER and count_members(data) <= self.most_whole

    def change_command(self, owner: int, others: Iterable[int]) -> Command:
        """Forgets the answers about others and adds them to the filter.

        Send it after the commit. It may be sent twice or late.
        """
        flat = [item for other in others for item in (other, *hashes_of(other))]
        keys = [*self._keys(owner), token_key(self.key(owner))]
        return CHANGE.on(keys, _FIELD, *flat)

    def _keys(self, owner: int) -> list[bytes]:
        return [self.key(owner), self.filter_key(owner), viewer_key(owner)]


def _missing(others: Sequence[int], cached: Mapping[int, object]) -> list[int]:
    return [] if len(cached) == len(others) else [o for o in others if o not in cached]


def find_related(data: bytes, others: Iterable[int]) -> list[int]:
    """The others that may be in the filter."""
    return [other for other in others if may_hold(data, other)]
