"""Finds the viewer of an access token: in process memory first, then by `find_token`."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from cachebox import LRUCache

from accounts.cache import TOKENS, TokenFacts
from accounts.errors import LoginDisabled
from accounts.queries.tokens import find_token
from accounts.scopes import expand_scopes
from accounts.types import Viewer
from infra.caching.client import Command
from infra.caching.invalidation import register_copies
from infra.caching.invalidation_log import (
    LOG,
    InvalidationLog,
    LogEntryKind,
    LogOffset,
    log_command,
)
from infra.caching.listener import LISTENER
from infra.caching.process_memory import most_entries

# Facts that no entry of the log announces, such as an application's quota, are at most so old.
MEMORY_S = 60
MOST_VIEWERS = most_entries("accounts.viewer", share=0.03, bytes_each=600)


class CachedViewer(NamedTuple):
    """A viewer in process memory, valid `until` this time of the monotonic clock."""

    viewer: Viewer
    until: float


class InProcessViewers:
    """Viewers by the checksum of their token. Unknown tokens are read from Redis each time.

    The invalidation log names tokens that ended. A request is authenticated before its first round
    trip. So it uses a viewer from memory if any request of the process has just read the log.
    Pub/sub only makes the process forget a viewer earlier.
    """

    def __init__(self, log: InvalidationLog) -> None:
        self._by_checksum: LRUCache[str, CachedViewer] = LRUCache(MOST_VIEWERS)
        self._log = log
        log.register(LogEntryKind.TOKEN, lambda subject: self.forget([subject.hex()]))

    def find(self, checksum: str) -> Viewer | None:
        """The viewer, if memory has it and the log was read in the last FRESH_S. No round trip."""
        # In this order: another thread may read the log, and forget the viewer, in between.
        is_fresh = self._log.find_fresh_offset() is not None
        cached = self._by_checksum.get(checksum) if is_fresh else None
        return cached.viewer if cached is not None and time.monotonic() < cached.until else None

    def keep(self, checksum: str, cached: CachedViewer, offset: LogOffset | None) -> None:
        """Stores a viewer that was read after the log was read up to `offset`."""
        LISTENER.start()
        self._log.keep(offset, partial(self._by_checksum.insert, checksum, cached))

    def forget(self, checksums: Sequence[str]) -> None:
        for checksum in checksums:
            self._by_checksum.pop(checksum, None)

    def forget_all(self) -> None:
        self._by_checksum.clear()


_viewers = InProcessViewers(LOG)
register_copies(TOKENS, _viewers)


def _admit() -> None:
    """Admits every query."""


def find_viewer(token: str, admit: Callable[[], None] = _admit) -> Viewer | None:
    """The viewer of this token; None if the token is unknown, ended or expired.

    `admit` is called before a query of the database and may refuse it by an error.

    Raises: LoginDisabled for the token of a suspended user, at the cost of a round trip each time.
    Staleness: at most FRESH_S after the entry in the invalidation log. Cost: nothing from process
    memory while other requests read the log; else one Redis round trip, and a query if Redis lacks
    the token.
    """
    checksum = sha256(token.encode()).hexdigest()
    return _viewers.find(checksum) or _ask(checksum, admit)


def token_invalidation_commands(checksums: Sequence[str], clock_s: float) -> list[Command]:
    """Removes viewers from the memory of all processes. Send them after the tokens changed."""
    subjects = map(bytes.fromhex, checksums)
    return [log_command(LogEntryKind.TOKEN, subject, clock_s) for subject in subjects]


def _ask(checksum: str, admit: Callable[[], None]) -> Viewer | None:
    # The time before the read: the answer may be old when it arrives.
    asked = time.monotonic()
    facts, offset = find_token(checksum, admit)
    if facts is not None and facts.is_suspended:
        raise LoginDisabled
    left_s = facts.expires_at - time.time() if facts else 0
    if facts is None or left_s <= 0:
        return None
    viewer = _viewer_of(facts)
    _viewers.keep(checksum, CachedViewer(viewer, asked + min(MEMORY_S, left_s)), offset)
    return viewer


def _viewer_of(facts: TokenFacts) -> Viewer:
    scopes, quota = expand_scopes(facts.scope), facts.application_quota
    who = (facts.account_id, facts.application_id)
    return Viewer(*who, scopes, facts.token_id, quota, facts.is_frozen)
