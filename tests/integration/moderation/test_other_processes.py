"""A decision is in force at the next read of every process, even of a disconnected one."""

import math
import time

import pytest

from accounts.cache import profiles
from accounts.queries.in_process import account_invalidation_command
from accounts.queries.load import find_existing
from infra.caching.client import redis
from infra.caching.hot_keys import HotKeyLimits, HotKeys
from infra.caching.hot_values import HotValues
from infra.caching.invalidation_log import LOG, LOG_KEY
from infra.caching.listener import InvalidationListener
from moderation.types import DecisionKind
from tests.budgets import count_calls
from tests.callers import token_of
from tests.disconnected_process import Say, ids_in
from tests.people import Community, decide
from tests.world import make_account


def test_a_disconnected_process_shows_nothing_of_a_suspended_account(
    community: Community, disconnected: Say
) -> None:
    moderated, theirs = str(community.moderated), community.theirs.public
    shows = {
        f"/api/v1/accounts/{moderated}": moderated,
        f"/api/v1/accounts?id[]={moderated}": moderated,
        f"/api/v1/accounts/relationships?id[]={moderated}": moderated,
        f"/api/v1/accounts/{community.friend}/followers": moderated,
        f"/api/v1/statuses/{community.friends.public}/favourited_by": moderated,
        f"/api/v1/accounts/{moderated}/statuses": theirs,
        f"/api/v1/accounts/{community.friend}/statuses": theirs,
        f"/api/v1/statuses/{theirs}": theirs,
        "/api/v1/timelines/public": theirs,
        "/api/v1/timelines/home": theirs,
    }
    token = token_of(community.me)

    def shown() -> dict[str, bool]:
        return {
            path: who in ids_in(disconnected("ask", token, path)) for path, who in shows.items()
        }

    assert disconnected("heat", moderated) == "hot"
    assert shown() == shown() == dict.fromkeys(shows, True)
    decide(community.moderated, DecisionKind.SUSPEND)
    assert shown() == dict.fromkeys(shows, False)
    decide(community.moderated, DecisionKind.RESTORE)
    assert shown() == dict.fromkeys(shows, True)


def test_a_hot_profile_that_was_limited_says_so_at_the_next_read(
    community: Community, disconnected: Say
) -> None:
    token, path = token_of(community.unrelated), f"/api/v1/accounts/{community.moderated}"
    assert disconnected("heat", community.moderated) == "hot"
    assert '"limited"' not in disconnected("ask", token, path)
    decide(community.moderated, DecisionKind.LIMIT)
    assert '"limited":true' in disconnected("ask", token, path)


@pytest.fixture
def copied(world: None, monkeypatch: pytest.MonkeyPatch) -> int:
    """An account of which this process has a copy, read after it began to read the log."""
    account_id, hot_keys = make_account(), HotKeys(HotKeyLimits(1_000, copy_s=60))
    monkeypatch.setattr(hot_keys, "_due", math.inf)
    monkeypatch.setattr(profiles, "hot", HotValues(profiles.family, profiles.key, hot_keys))
    monkeypatch.setattr(profiles.hot, "_hot", {account_id: profiles.key(account_id)})
    monkeypatch.setattr(InvalidationListener, "start", lambda _: None)
    LOG.read()
    find_existing([account_id])
    assert profiles.hot.split([account_id]).hits
    return account_id


def test_a_copy_costs_one_read_of_the_log(copied: int) -> None:
    with count_calls() as calls:
        assert find_existing([copied]) == {copied}
    assert (calls.round_trips, sum(calls.sql.values())) == (1, 0)
    assert profiles.hot.split([copied]).hits, "and is kept"


def test_a_copy_of_nothing_is_checked_too(copied: int) -> None:
    """The account was suspended when the copy was made, and the log says that it changed since."""
    profiles.hot.clear()
    profiles.hot.store({copied: b""}, time.monotonic())
    assert profiles.hot.split([copied]).hits == {copied: b""}
    redis().call(*account_invalidation_command(copied, time.time()))
    assert find_existing([copied]) == {copied}


def test_a_lost_log_drops_copies(copied: int) -> None:
    redis().call("DEL", LOG_KEY)
    with count_calls() as calls:
        assert find_existing([copied]) == {copied}
    assert calls.round_trips == 2, "the log, and the profile again"


def test_a_copy_requested_before_an_invalidation_is_not_stored_after_it(copied: int) -> None:
    profiles.hot.clear()
    slow = profiles.ask(profiles.hot.split([copied]))
    slow.receive(redis().run(slow.commands()))
    redis().call(*account_invalidation_command(copied, time.time()))
    LOG.read()
    assert slow.value
    assert not profiles.hot.split([copied]).hits
