"""How a follower waits: for the streaming process, and after failures."""

import random
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from tideline_client.calls import Call, query_of
from tideline_client.errors import Postponed, Refused, TidelineError, UnexpectedAnswer
from tideline_client.models import Events, InstanceV2
from tideline_client.tries import MAY_PASS, Patience

PATH = "/api/v1/streaming/services/events"
WAIT_S = 30
# The streaming process answers after WAIT_S at the latest.
PATIENCE = Patience(deadline_ms=(WAIT_S + 10) * 1000, retries=0)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
BETWEEN_READS_S = 1.0
ASK_AGAIN_S = 60.0


def waiting_call(after: str) -> Call[Events]:
    query = query_of({"after": after, "wait": WAIT_S})
    return Call("GET", PATH, Events, query=query)


def streaming_url(site: InstanceV2) -> str:
    """The address of the streaming process, for HTTP. Raises: UnexpectedAnswer."""
    named = str(site.configuration.get("urls", {}).get("streaming", ""))
    scheme = {"ws": "http", "wss": "https"}.get(urlsplit(named).scheme)
    if scheme is None:
        raise UnexpectedAnswer(f"the site names no address of streams, but {named!r}")
    return f"{scheme}{named[named.index(':') :]}".rstrip("/")


@dataclass(slots=True)
class StreamingProcess:
    """Where it is, and from when on it may be asked: not for a while after it was away."""

    url: str = ""
    _not_before: float = 0.0

    def may_be_asked(self) -> bool:
        return time.monotonic() >= self._not_before

    def was_away(self) -> None:
        self.url, self._not_before = "", time.monotonic() + ASK_AGAIN_S


@dataclass(slots=True)
class Pauses:
    """Between failures: they grow up to LONGEST_PAUSE_S."""

    _next_s: float = FIRST_PAUSE_S

    _has_answered: bool = False

    def after(self, error: TidelineError) -> float:
        """Partly random, so that many followers do not come back together.

        Raises: the error, if it does not get better by itself.
        """
        if not self._may_pass(error):
            raise error
        pause = self._next_s * (1 + random.random()) / 2
        self._next_s = min(2 * self._next_s, LONGEST_PAUSE_S)
        return max(pause, error.retry_after_s) if isinstance(error, Postponed) else pause

    def reset(self) -> None:
        self._next_s, self._has_answered = FIRST_PAUSE_S, True

    def _may_pass(self, error: TidelineError) -> bool:
        """What is no answer of Tideline is the page of a proxy, if there were answers before; else
        the address is wrong."""
        if isinstance(error, UnexpectedAnswer):
            return self._has_answered
        is_fault = isinstance(error, Refused) and error.status >= 500
        return is_fault or isinstance(error, MAY_PASS)
