"""Asks again and again whether many tokens still hold, as cheaply as it can be."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from accounts.cache import TOKENS, TokenFacts, read_token_entry, token_key
from accounts.queries.tokens import find_token
from infra.caching.decoding import decode
from infra.caching.questions import answer_by_redis, ask_keys

# Of those that Redis has lost, at a time. The others are asked for the next time.
MOST_READ = 50


class _Seen(NamedTuple):
    """`entry`: as Redis had it."""

    entry: bytes
    expires_at: float


class HeldTokens:
    """Remembers what Redis had of each token, so that an equal entry is not decoded again."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def find_ended(self, checksums: Sequence[str]) -> list[str]:
        """Those of the tokens that do not hold: revoked, expired, or of a suspended user.

        Raises: RedisError, OperationalError. Cost: one command for all; a query for each token that
        Redis lacks.
        """
        keys = [token_key(checksum) for checksum in checksums]
        entries = answer_by_redis(ask_keys(keys, lambda replies: replies or ()))
        now = time.time()
        self._seen = {i: self._seen[i] for i in checksums if i in self._seen}
        ended, lost = [], []
        for checksum, entry in zip(checksums, entries, strict=True):
            if entry is None:
                lost.append(checksum)
            elif not self._holds(checksum, entry, now):
                ended.append(checksum)
        return ended + [i for i in lost[:MOST_READ] if _expiry_of(find_token(i, _admit)) <= now]

    def _holds(self, checksum: str, entry: bytes, now: float) -> bool:
        seen = self._seen.get(checksum)
        if seen is None or seen.entry != entry:
            facts = decode(TOKENS, _read_facts, entry)
            seen = self._seen[checksum] = _Seen(entry, _expiry_of(facts))
        return seen.expires_at > now


def _read_facts(entry: bytes) -> TokenFacts | None:
    return read_token_entry(0, entry).facts


def _expiry_of(facts: TokenFacts | None) -> float:
    """0 for a token that does not hold."""
    return 0.0 if facts is None or facts.is_suspended else facts.expires_at


def _admit() -> None:
    """Admits every query: the token held when its stream began."""
