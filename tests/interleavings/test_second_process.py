"""The second process of the histories: it may stop as long as an actor of the test's process."""

from functools import partial

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from tests.interleavings.second_process import second_process

LIMIT = partial(fetch_one, GLOBAL_ALIAS, "SHOW idle_session_timeout", ())


def test_sessions_of_both_processes_may_idle_equally_long(
    second_process_ended: None, world: None
) -> None:
    """A transaction that has sent no statement is idle for the server, and its session cannot be
    replaced."""
    assert second_process().ask(LIMIT) == LIMIT() == ("2min",)
