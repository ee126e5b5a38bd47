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
    """For tests with fixtures, which are made once for all examples."""
    return hypothesis.settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
