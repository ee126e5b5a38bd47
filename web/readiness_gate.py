"""No answer from caches before the default database was ready once in this process."""

from collections.abc import Callable, Iterable
from typing import Any

import structlog
from django.db import DatabaseError, InterfaceError

from infra.api.answers import UNAVAILABLE
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.readiness import require_ready, was_ready
from infra.store_states import state_of

# They say themselves what is wrong.
OPEN_PREFIXES = ("/health/", "/metrics")
HEADERS = [("Content-Type", "application/json; charset=utf-8"), ("Retry-After", "2")]
Answer = Callable[..., Any]
log = structlog.get_logger()


class ReadyGate:
    """A WSGI application in front of another: 503 until the default database is ready.

    Redis may have pages of accounts that these databases do not have. Cost: one look into memory
    for each request.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        # Which GETs may share a thread, by path.
        self.is_quick = getattr(application, "is_quick", lambda _path: False)

    def __call__(self, request: dict[str, Any], start_response: Answer) -> Iterable[bytes]:
        is_open = was_ready(GLOBAL_ALIAS) or request["PATH_INFO"].startswith(OPEN_PREFIXES)
        if is_open or _becomes_ready():
            return self._application(request, start_response)
        start_response("503 Service Unavailable", HEADERS)
        return [f'{{"error":"{UNAVAILABLE}"}}'.encode()]


def _becomes_ready() -> bool:
    try:
        require_ready(GLOBAL_ALIAS)
    except (DatabaseError, InterfaceError) as error:
        log.error("request.database_unavailable", state=state_of(error).label, error=str(error))
        return False
    return True
