"""Finds the viewer of an access token: remembered by the process, named in the token, or by
`find_token`. The next round trip of a request that reads confirms the first two."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from cachebox import LRUCache

from accounts.cache import TokenEntry, TokenFacts, ask_token, entry_of_token, token_key
from accounts.errors import LoginDisabled
from accounts.queries.tokens import find_token
from accounts.scopes import expand_scopes, scopes_of
from accounts.token_tags import read_name
from accounts.types import Viewer
from infra.caching.client import redis
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question
from infra.confirmations import Outdated, Rider, confirm_later

# After that the token is read as usual, which also asks the database again now and then.
MEMORY_S = 60
MOST_VIEWERS = most_entries("accounts.viewer", share=0.06, bytes_each=900)
MOST_APPLICATIONS, MOST_DOUBTED = 1_000, 10_000


class KnownViewer(NamedTuple):
    """A viewer in process memory until this time of the monotonic clock. `entry`: of the token, as
    Redis has it if nothing has changed."""

    viewer: Viewer
    entry: bytes
    until: float


class KnownApplication(NamedTuple):
    """What a token's application adds to its viewers, until this time of the monotonic clock."""

    quota: int | None
    is_bulk: bool
    until: float


# By the checksum of their token. Unknown tokens are read from Redis each time.
_viewers: LRUCache[str, KnownViewer] = LRUCache(MOST_VIEWERS)
_applications: LRUCache[int, KnownApplication] = LRUCache(MOST_APPLICATIONS)
# Until when a token is not believed to allow what it names, by its checksum.
_doubted_until: LRUCache[str, float] = LRUCache(MOST_DOUBTED)


def _admit() -> None:
    """Admits every query."""


def find_viewer(token: str, admit: Callable[[], None] = _admit) -> Viewer | None:
    """The viewer of this token; None if the token is unknown, ended or expired.

    `admit` is called before a query of the database and may refuse it by an error.

    Raises: LoginDisabled for the token of a suspended user, at the cost of a round trip each time.
    Cost: one Redis round trip, and a query if Redis lacks the token. If the request reads and
    the process knows the viewer, or the token names it, no round trip: the request's next one
    confirms the viewer.
    """
    checksum = sha256(token.encode()).hexdigest()
    return _find_known(checksum) or _find_named(token, checksum) or _ask(checksum, admit)


def _find_known(checksum: str) -> Viewer | None:
    known = _viewers.get(checksum)
    if known is None or time.monotonic() >= known.until:
        return None
    rider = Rider([("GET", token_key(checksum))], partial(_confirm, checksum, known), redis().run)
    return known.viewer if confirm_later(rider) else None


def _confirm(checksum: str, known: KnownViewer, replies: Sequence[Any] | None) -> None:
    """Raises: Outdated, also while Redis is away."""
    if replies is None or replies[0] != known.entry:
        _viewers.pop(checksum, None)
        raise Outdated


def _find_named(token: str, checksum: str) -> Viewer | None:
    """Most tokens allow what they name. The process must know the application: the request is
    charged by its quota."""
    now = time.monotonic()
    if now < _doubted_until.get(checksum, now) or (name := read_name(token)) is None:
        return None
    application = _applications.get(name.application_id)
    if application is None or now >= application.until:
        return None
    viewer = Viewer(
        name.account_id,
        name.application_id,
        scopes_of(name.scopes),
        name.token_id,
        application.quota,
        is_bulk=application.is_bulk,
    )
    question = ask_token(checksum)
    confirm = partial(_confirm_named, checksum, viewer, now, question)
    rider = Rider(question.commands, confirm, redis().run)
    return viewer if confirm_later(rider) else None


def _confirm_named(
    checksum: str,
    viewer: Viewer,
    asked: float,
    question: Question[TokenEntry | None],
    replies: Sequence[Any] | None,
) -> None:
    """Raises: Outdated, also while Redis is away or lacks the token."""
    entry = question.decode(replies)
    facts = entry.facts if entry is not None and not entry.is_stale else None
    allowed = None if facts is None else _remember(checksum, facts, asked)
    if allowed is None:
        _doubted_until[checksum] = asked + MEMORY_S
    if allowed != viewer:
        raise Outdated


def _ask(checksum: str, admit: Callable[[], None]) -> Viewer | None:
    asked = time.monotonic()
    facts = find_token(checksum, admit)
    if facts is not None and facts.is_suspended:
        raise LoginDisabled
    return None if facts is None else _remember(checksum, facts, asked)


def _remember(checksum: str, facts: TokenFacts, asked: float) -> Viewer | None:
    """None: the token allows nothing now."""
    left_s = facts.expires_at - time.time()
    if left_s <= 0:
        return None
    viewer = _viewer_of(facts)
    until = asked + min(MEMORY_S, left_s)
    of_application = (facts.application_quota, facts.is_bulk)
    _applications[facts.application_id] = KnownApplication(*of_application, until)
    _doubted_until.pop(checksum, None)
    _viewers[checksum] = KnownViewer(viewer, entry_of_token(facts), until)
    return viewer


def _viewer_of(facts: TokenFacts) -> Viewer:
    scopes, quota = expand_scopes(facts.scope), facts.application_quota
    who = (facts.account_id, facts.application_id)
    return Viewer(*who, scopes, facts.token_id, quota, facts.is_frozen, facts.is_bulk)
