"""How random histories are drawn: their steps by name, and how many examples a test tries."""

from typing import Any

import hypothesis
from hypothesis import HealthCheck
from hypothesis import strategies as st

NOTHING: st.SearchStrategy[Any] = st.none()


def step_of(
    name: str, who: st.SearchStrategy[Any] = NOTHING, what: st.SearchStrategy[Any] = NOTHING
) -> st.SearchStrategy[Any]:
    """A step that calls this method of a history with two drawn values."""
    return st.tuples(st.just(name), who, what)


def examples(count: int) -> hypothesis.settings:
    """`count` of them in `make test-random`, and half in `make test`, which always tries the same.

    For tests with fixtures, which are made once for all examples.
    """
    is_same = hypothesis.settings.default.derandomize
    return hypothesis.settings(
        max_examples=(count + 1) // 2 if is_same else count,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
