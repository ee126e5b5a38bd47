"""The read window: for some milliseconds after a process asked Redis, reads need not ask again.

A read that began at the moment M may use what the process asked Redis after M - READ_WINDOW_MS. So
it can miss a change that another process made in that time. So that no client sees this, the
answer to a write waits: it leaves READ_WINDOW_MS after Redis has the change. A read that begins
after this answer uses only what was asked after the change.

No process needs to know another one, and no clocks are compared: each process only measures how
long ago it asked, by its monotonic clock. Only reads that call `enter_read` use the window. A
process that makes a change closes its own window at once.

A request is authenticated before its first question, by what its process asked in the last
TOKEN_WINDOW_S. So an answer to a change that ends tokens waits that long.
"""

import atexit
import threading
import time
from contextvars import ContextVar, Token

from django.conf import settings

from infra.read_limits import SLOWER_CLOCK, TOKEN_WINDOW_S

WINDOW_S = settings.READ_WINDOW_MS / 1000
_WAIT_S, TOKEN_WAIT_S = WINDOW_S * SLOWER_CLOCK, TOKEN_WINDOW_S * SLOWER_CLOCK
_NEVER = float("inf")
# What was asked after this moment of the monotonic clock may be used by the current read.
_oldest: ContextVar[float] = ContextVar("tideline_oldest_asked", default=_NEVER)
_changed_at = _tokens_ended_at = float("-inf")
# `waited_from`: when this thread last began to wait.
_thread = threading.local()

# For the request path, where a context manager would be measurable.
leave_read = _oldest.reset


def enter_read() -> Token[float]:
    """From now on, until `leave_read`, this thread may use the window. Cost: less than 0.5 us."""
    if not WINDOW_S:
        return _oldest.set(_NEVER)
    return _oldest.set(time.monotonic() - WINDOW_S)


def close_window() -> None:
    """The current read asks Redis from now on."""
    _oldest.set(_NEVER)


def may_use_window() -> bool:
    """Whether the current read has entered the window and has not closed it since."""
    return _oldest.get() != _NEVER


def is_in_window(asked_at: float) -> bool:
    """Whether the current read may use what this process asked Redis at that moment."""
    return asked_at > _oldest.get() and asked_at > _changed_at


def note_change(ends_tokens: bool = False) -> None:
    """This process tells Redis of a change. It closes the window of this process."""
    global _changed_at, _tokens_ended_at
    _changed_at = time.monotonic()
    if ends_tokens:
        _tokens_ended_at = _changed_at


def wait_for_windows(since: float) -> None:
    """Waits until no process reads without the changes that this one made after `since`.

    Call it when Redis has them, before the client gets the answer. Cost: READ_WINDOW_MS if there
    was a change that this thread has not waited for, TOKEN_WINDOW_S if it ended tokens, else
    nothing.
    """
    began = max(since, getattr(_thread, "waited_from", since))
    if _changed_at >= began:
        _thread.waited_from = time.monotonic()
        time.sleep(TOKEN_WAIT_S if _tokens_ended_at >= began else _WAIT_S)


@atexit.register
def _wait_at_exit() -> None:
    """The end of a command is its answer."""
    now = time.monotonic()
    if now - _tokens_ended_at < TOKEN_WAIT_S:
        time.sleep(TOKEN_WAIT_S)
    elif now - _changed_at < _WAIT_S:
        time.sleep(_WAIT_S)
