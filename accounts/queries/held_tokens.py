"""Asks again and again whether many tokens still hold, as cheaply as it can be."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from redis import RedisError

from accounts.cache import TOKENS, TokenFacts, read_token_entry, token_key
from accounts.queries.tokens import find_token, load_tokens
from infra.caching.decoding import decode
from infra.caching.questions import answer_by_redis, ask_keys

# Of those that Redis has lost, at a time, as a request with the token would. Redis has them again
# then; the others are only asked for.
MOST_BROUGHT_BACK = 50


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

        Raises: OperationalError. Cost: one command for all; for those that Redis lacks as
        `load_tokens`, and MOST_BROUGHT_BACK queries at most. Without Redis as `load_tokens`.
        """
        entries, is_away = _read_entries(checksums)
        now = time.time()
        self._seen = {i: self._seen[i] for i in checksums if i in self._seen}
        asked = zip(checksums, entries, strict=True)
        ended = [i for i, entry in asked if entry is not None and not self._holds(i, entry, now)]
        lost = [i for i, entry in zip(checksums, entries, strict=True) if entry is None]
        known = load_tokens(lost)
        if not is_away:
            for checksum in lost[:MOST_BROUGHT_BACK]:
                find_token(checksum, _admit)
        return ended + [i for i in lost if _expiry_of(known.get(i)) <= now]

    def _holds(self, checksum: str, entry: bytes, now: float) -> bool:
        seen = self._seen.get(checksum)
        if seen is None or seen.entry != entry:
            facts = decode(TOKENS, _read_facts, entry)
            seen = self._seen[checksum] = _Seen(entry, _expiry_of(facts))
        return seen.expires_at > now


def _read_entries(checksums: Sequence[str]) -> tuple[Sequence[bytes | None], bool]:
    """As Redis has them, and whether it is away."""
    keys = [token_key(checksum) for checksum in checksums]
    try:
        return answer_by_redis(ask_keys(keys, lambda replies: replies or ())), False
    except RedisError:
        return [None] * len(checksums), True


def _read_facts(entry: bytes) -> TokenFacts | None:
    return read_token_entry(0, entry).facts


def _expiry_of(facts: TokenFacts | None) -> float:
    """0 for a token that does not hold."""
    return 0.0 if facts is None or facts.is_suspended else facts.expires_at


def _admit() -> None:
    """Admits every query: the token held when its stream began."""
