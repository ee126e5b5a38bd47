"""Which requests caused what is being done: in every log line, and beside every change.

A request has one id. A batch of changes has those of all requests that made them; a line of the log
names a few. Kept in a context variable of our own: binding one of structlog's costs ten times that.
"""

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

MOST_NAMED = 20
_current: ContextVar[tuple[str, ...]] = ContextVar("tideline_requests", default=())
_is_well_formed = re.compile(r"[A-Za-z0-9._-]{8,64}").fullmatch


class _Names:
    """A random beginning for the process, then numbers: a tenth of what a UUID costs."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        self.beginning, self.numbers = secrets.token_hex(6), count(1)


_NAMES = _Names()
os.register_at_fork(after_in_child=_NAMES.begin_anew)


def choose_request_id(given: str | None) -> str:
    """The id that came with a request if it is 8 to 64 of A-Z a-z 0-9 . _ -, or a new one."""
    if given is not None and _is_well_formed(given):
        return given
    return f"{_NAMES.beginning}-{next(_NAMES.numbers):x}"


def get_request_ids() -> tuple[str, ...]:
    return _current.get()


@contextmanager
def caused_by(requests: Sequence[str]) -> Iterator[None]:
    """What happens inside was caused by these requests."""
    token = _current.set(tuple(dict.fromkeys(requests)))
    try:
        yield
    finally:
        _current.reset(token)


# For the request's own way, where a context manager's 0.5 µs count.
enter_request, leave_request = _current.set, _current.reset


def add_requests(_logger: Any, _method: str, event: Any) -> Any:
    """structlog's processor: `request_id`, or of a batch `request_ids`, the first few of them."""
    requests = _current.get()
    if len(requests) == 1:
        event.setdefault("request_id", requests[0])
    elif requests:
        event.setdefault("request_ids", list(requests[:MOST_NAMED]))
    return event
