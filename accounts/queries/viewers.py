"""Finds the viewer of an access token: in process memory first, then by `find_token`."""

import threading
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from cachebox import LRUCache

from accounts.cache import TOKENS, TokenFacts
from accounts.queries.tokens import find_token
from accounts.scopes import expand_scopes
from accounts.types import Viewer
from infra.api.errors import LoginDisabled
from infra.caching.invalidation import InvalidationTimes, register_copies
from infra.caching.listener import LISTENER

# Bounds the delay of a revocation whose invalidation does not arrive. Together with the write and
# the read of its tombstone that is less than the promised second.
LOCAL_S = 0.8
LOCAL_TOKENS = 100_000


class CachedViewer(NamedTuple):
    """A viewer in process memory, valid `until` this time of the monotonic clock."""

    viewer: Viewer
    until: float


class InProcessViewers:
    """Viewers by the checksum of their token. Unknown tokens are read from Redis each time."""

    def __init__(self) -> None:
        self._by_checksum: LRUCache[str, CachedViewer] = LRUCache(LOCAL_TOKENS)
        self._invalidated: InvalidationTimes[str] = InvalidationTimes()
        self._changing = threading.Lock()
        self.get = self._by_checksum.get

    def keep(self, checksum: str, cached: CachedViewer, asked_at: float) -> None:
        """Stores a viewer, unless its token was invalidated after `asked_at`."""
        LISTENER.start()
        with self._changing:
            if self._invalidated.may_store(checksum, asked_at):
                self._by_checksum[checksum] = cached

    def forget(self, checksums: Sequence[str]) -> None:
        with self._changing:
            self._invalidated.add(checksums, time.monotonic())
            for checksum in checksums:
                self._by_checksum.pop(checksum, None)

    def forget_all(self) -> None:
        with self._changing:
            self._invalidated.add_all(time.monotonic())
            self._by_checksum.clear()


_viewers = InProcessViewers()
register_copies(TOKENS, _viewers)


def find_viewer(token: str) -> Viewer | None:
    """The viewer of this token; None if the token is unknown, ended or expired.

    Raises: LoginDisabled for the token of a suspended user, at the cost of a round trip each time.
    Staleness: until this process receives the invalidation, at most a second. Cost: nothing from
    process memory. Every LOCAL_S one Redis round trip, and a query if Redis lacks the token.
    """
    checksum = sha256(token.encode()).hexdigest()
    cached = _viewers.get(checksum)
    if cached is not None and time.monotonic() < cached.until:
        return cached.viewer
    return _ask(checksum)


def _ask(checksum: str) -> Viewer | None:
    # The time before the read: the answer may be old when it arrives.
    asked = time.monotonic()
    facts = find_token(checksum)
    if facts is not None and facts.is_suspended:
        raise LoginDisabled
    left_s = facts.expires_at - time.time() if facts else 0
    if facts is None or left_s <= 0:
        return None
    viewer = _viewer_of(facts)
    _viewers.keep(checksum, CachedViewer(viewer, asked + min(LOCAL_S, left_s)), asked)
    return viewer


def _viewer_of(facts: TokenFacts) -> Viewer:
    scopes, quota = expand_scopes(facts.scope), facts.application_quota
    who = (facts.account_id, facts.application_id)
    return Viewer(*who, scopes, facts.token_id, quota, facts.is_frozen)
