"""How long this process waits for a database. A web server waits less than a command."""

from functools import cache
from typing import NamedTuple

from django.conf import settings

# The server ends a slow statement itself. This is the time for its answer to arrive.
GRACE_S = 0.1


class Patience(NamedTuple):
    """`answer_s`: the longest wait for one answer.

    After `suspect_s` another connection asks whether the database answers at all. The database
    hangs if that connection has no answer after `probe_s`.
    """

    answer_s: float
    suspect_s: float
    probe_s: float


class _Kind:
    """`is_web`: requests wait for this process, so it rather fails than waits."""

    is_web = False


def wait_like_a_web_server() -> None:
    """The patience of this process is DATABASE_ANSWER_MS. Call it before the first connection."""
    _Kind.is_web = True
    patience.cache_clear()


@cache
def patience() -> Patience:
    """The patience of this process."""
    if _Kind.is_web:
        answer_s = settings.DATABASE_ANSWER_MS / 1000
        return Patience(answer_s + GRACE_S, 0.1 * answer_s, 0.3 * answer_s)
    return Patience(settings.STATEMENT_TIMEOUT_MS / 1000 + 2, 2.0, 1.0)


def statement_timeout_ms() -> int | None:
    """The limit of the server for a statement of this process; None: the one of the settings.

    A server that works ends a slow statement itself, and the connection stays usable.
    """
    if not _Kind.is_web:
        return None
    return min(settings.DATABASE_ANSWER_MS, settings.STATEMENT_TIMEOUT_MS)
