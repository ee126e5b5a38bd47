"""What moderators decide is in force at the next read of every process, heard of or not."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator

import orjson
import pytest
from django.conf import settings

from accounts import hot_profiles
from accounts.cache import profiles
from accounts.hot_profiles import VALIDATOR
from accounts.queries.load import find_existing, load_account_json
from infra.caching.client import redis
from infra.caching.hot_keys import HotKeyLimits, HotKeys
from infra.caching.hot_values import HotValues
from infra.caching.listener import InvalidationListener
from moderation.types import DecisionKind
from tests.budgets import count_calls
from tests.callers import token_of
from tests.integration.moderation.people import Circle, decide
from tests.other_process import environment_of_this_test
from tests.world import make_account

Say = Callable[..., str]
# As long as a copy may be kept: what is right sooner is not right by age.
OLD = {"HOT_KEY_READS": "20", "HOT_COPY_MS": "5000"}


@pytest.fixture
def circle(world: None) -> Circle:
    return Circle()


@pytest.fixture
def deaf(world: None) -> Iterator[Say]:
    """Another web process, whose listener is cut off."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "tests.disconnected_reader"],
        env=environment_of_this_test() | OLD,
        cwd=settings.BASE_DIR,
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:

        def say(*words: object) -> str:
            print(*words, file=process.stdin, flush=True)
            assert process.stdout is not None
            return process.stdout.readline().strip()

        yield say
        assert process.stdin is not None
        process.stdin.close()


def ids_in(answer: str) -> set[str]:
    status, _, body = answer.partition(" ")
    found = orjson.loads(body)
    if status != "200":
        return set()
    entities = found if isinstance(found, list) else [found]
    return {one["id"] for one in entities} | {
        one["reblog"]["id"] for one in entities if one.get("reblog")
    }


def test_a_process_that_hears_nothing_shows_nothing_of_a_suspended_account(
    circle: Circle, deaf: Say
) -> None:
    judged, theirs = str(circle.judged), circle.theirs.public
    shows = {
        f"/api/v1/accounts/{judged}": judged,
        f"/api/v1/accounts?id[]={judged}": judged,
        f"/api/v1/accounts/relationships?id[]={judged}": judged,
        f"/api/v1/accounts/{circle.friend}/followers": judged,
        f"/api/v1/statuses/{circle.friends.public}/favourited_by": judged,
        f"/api/v1/accounts/{judged}/statuses": theirs,
        f"/api/v1/accounts/{circle.friend}/statuses": theirs,
        f"/api/v1/statuses/{theirs}": theirs,
        "/api/v1/timelines/public": theirs,
        "/api/v1/timelines/home": theirs,
    }
    token = token_of(circle.me)

    def shown() -> dict[str, bool]:
        return {path: who in ids_in(deaf("ask", token, path)) for path, who in shows.items()}

    assert deaf("heat", judged) == "hot"
    assert shown() == shown() == dict.fromkeys(shows, True)
    decide(circle.judged, DecisionKind.SUSPEND)
    assert shown() == dict.fromkeys(shows, False)
    decide(circle.judged, DecisionKind.RESTORE)
    assert shown() == dict.fromkeys(shows, True)


def test_a_hot_profile_that_was_limited_says_so_at_the_next_read(circle: Circle, deaf: Say) -> None:
    token, path = token_of(circle.stranger), f"/api/v1/accounts/{circle.judged}"
    assert deaf("heat", circle.judged) == "hot"
    assert '"limited"' not in deaf("ask", token, path)
    decide(circle.judged, DecisionKind.LIMIT)
    assert '"limited":true' in deaf("ask", token, path)


@pytest.fixture
def copied(world: None, monkeypatch: pytest.MonkeyPatch) -> int:
    """Somebody of whom this process has a copy, made under the stamp it knows."""
    account_id, hot_keys = make_account(), HotKeys(HotKeyLimits(1_000, copy_s=60))
    monkeypatch.setattr(hot_keys, "_due", math.inf)
    monkeypatch.setattr(profiles, "hot", HotValues(profiles.family, profiles.key, hot_keys))
    monkeypatch.setattr(profiles.hot, "_hot", {account_id: profiles.key(account_id)})
    monkeypatch.setattr(InvalidationListener, "start", lambda _: None)
    for _ in range(3):  # keeps a copy and lays the stamp, learns it, keeps a copy under it
        load_account_json([account_id])
    assert profiles.hot.split([account_id]).known
    return account_id


def test_a_copy_costs_the_question_whether_it_holds(copied: int) -> None:
    with count_calls() as calls:
        assert find_existing([copied]) == {copied}
    assert (calls.round_trips, sum(calls.sql.values())) == (1, 0)
    assert profiles.hot.split([copied]).known, "and is kept"


def test_another_stamp_or_none_drops_copies(copied: int) -> None:
    for command in (("SET", VALIDATOR, b"another"), ("DEL", VALIDATOR)):
        redis().call(*command)
        with count_calls() as calls:
            assert find_existing([copied]) == {copied}
        assert calls.round_trips == 3 if command[0] == "DEL" else 2
        find_existing([copied])
    assert redis().call("GET", VALIDATOR) == hot_profiles._seen[0]


def test_a_copy_asked_for_before_the_news_is_not_kept_after(copied: int) -> None:
    profiles.hot.clear()
    slow = hot_profiles.plan_profiles([copied])
    entry = redis().call("MGET", *slow.keys())
    redis().call(*hot_profiles.new_validator_command())
    hot_profiles._holds(b"before", redis().call("GET", VALIDATOR))
    assert hot_profiles.complete_profiles(slow, entry)
    assert not profiles.hot.split([copied]).known
