"""Asks again and again whether many tokens still hold, as cheaply as it can be."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from redis import RedisError

from accounts.cache import TOKENS, TokenFacts, read_token_entry, token_key
from accounts.queries.tokens import find_token, load_tokens
from infra.caching.decoding import decode
from infra.caching.questions import answer_by_redis, ask_keys

# For bringing tokens back to Redis, at a time.
BRING_BACK_S = 0.2


class _Seen(NamedTuple):
    """`entry`: as Redis had it."""

    entry: bytes
    expires_at: float


class HeldTokens:
    """Remembers what Redis had of each token, so that an equal entry is not decoded again."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._lost: Sequence[str] = ()

    def find_ended(self, checksums: Sequence[str]) -> list[str]:
        """Those of the tokens that do not hold: revoked, expired, or of a suspended user.

        Raises: OperationalError. Cost: one command for all; for those that Redis lacks, or without
        Redis, as `load_tokens`.
        """
        entries, is_away = _read_entries(checksums)
        now = time.time()
        self._seen = {i: self._seen[i] for i in checksums if i in self._seen}
        asked = list(zip(checksums, entries, strict=True))
        ended = [i for i, entry in asked if entry is not None and not self._holds(i, entry, now)]
        lost = [i for i, entry in asked if entry is None]
        self._lost = () if is_away else lost
        known = load_tokens(lost)
        return ended + [i for i in lost if _expiry_of(known.get(i)) <= now]

    def bring_back(self) -> None:
        """Lets Redis have the tokens that it has lost, as requests with them would, for a time.

        Raises: OperationalError. Cost: a query and some round trips for each.
        """
        end = time.monotonic() + BRING_BACK_S
        for checksum in self._lost:
            if time.monotonic() > end:
                return
            find_token(checksum, _admit)

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
