"""A pytest plugin for the clients' tests: they reach a local server only, and use no recordings."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_LOCAL = {"localhost", "127.0.0.1", "::1"}
_find_addresses = socket.getaddrinfo
# Tests of toot that look for a post on the public timeline right after it was made. That list may
# be ten seconds old, and a process keeps a copy for one more: an old list is read again.
_AFTER_THE_LIST = {"test_timelines", "test_timelines_v2"}
_LIST_S = 12


def pytest_configure() -> None:
    socket.getaddrinfo = _find_local
    try:
        import vcr  # noqa: PLC0415 - only Mastodon.py's tests have recordings
    except ImportError:
        return
    vcr.use_cassette = _no_recording


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of a library's own parts: where some tests are marked as recorded, the
    others talk to no server."""
    if any(item.get_closest_marker("vcr") for item in items):
        offline = [item for item in items if not item.get_closest_marker("vcr")]
        config.hook.pytest_deselected(items=offline)
        items[:] = [item for item in items if item.get_closest_marker("vcr")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.name in _AFTER_THE_LIST:
        time.sleep(_LIST_S)


def _find_local(host: Any, *args: Any, **kwargs: Any) -> Any:
    """No test may send anything to a public server."""
    if host not in _LOCAL:
        raise socket.gaierror(f"{host} is not this machine")
    return _find_addresses(host, *args, **kwargs)


@contextmanager
def _no_recording(*_: Any, **__: Any) -> Iterator[None]:
    yield
