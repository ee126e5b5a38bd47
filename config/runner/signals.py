"""Ctrl-C, a polite kill and a closed terminal all ask for the same orderly stop."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Raised in the main thread by the first of the signals; later ones change nothing."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Within the block a signal raises StopAsked, once."""
    before = {number: signal.signal(number, _request_stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _request_stop(number: int, frame: FrameType | None) -> NoReturn:
    for later in _SIGNALS:
        signal.signal(later, signal.SIG_IGN)
    raise StopRequested
