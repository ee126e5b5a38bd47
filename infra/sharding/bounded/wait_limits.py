"""How long this process waits for a database. A web server waits less than a command."""

from functools import cache
from typing import NamedTuple

from django.conf import settings

# The server ends a slow statement itself. This is the time for its answer to arrive.
GRACE_S = 0.1
# Of a connection. A new one costs a few milliseconds.
IDLE_S = 15
# The application_name of the sessions of web servers: a new shard does not end them.
WEB_SESSION = "tideline-web"


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


def session_parameters(is_replica: bool) -> dict[str, object]:
    """The limits of the server for a session of this process, in milliseconds, and its name.

    The server ends a session that is not used. Otherwise processes that were busy once keep all
    connections of a small server, and others get none. It also ends a slow statement of a web
    server itself, and the connection stays usable.
    """
    limits: dict[str, object] = {"idle_session_timeout": int(IDLE_S * 1000)}
    if _Kind.is_web:
        limits["application_name"] = WEB_SESSION
    if _Kind.is_web and not is_replica:
        slowest_ms = min(settings.DATABASE_ANSWER_MS, settings.STATEMENT_TIMEOUT_MS)
        limits["statement_timeout"] = slowest_ms
    return limits
