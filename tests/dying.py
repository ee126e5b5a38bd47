"""This process dies at a named place of the product, or does something else there.

After a death in a test, only the drain, or a second try, may repair what was left.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from infra.changes.failpoints import arm, disarm


class Killed(BaseException):
    """No handler of the product catches it, as if the process had died."""


def die(*_: object) -> None:
    raise Killed


@contextmanager
def armed(place: str, action: Callable[[], object]) -> Iterator[None]:
    """Each time that the product is at this place, it does this."""
    arm(place, action)  # type: ignore[arg-type]
    try:
        yield
    finally:
        disarm(place)


@contextmanager
def dying_at(place: str) -> Iterator[None]:
    """The block dies there."""
    with armed(place, die), pytest.raises(Killed):
        yield
