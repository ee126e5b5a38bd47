"""An answer that lacks a shard says so: to clients by a header, to people by a sentence."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from infra.caching.client import redis
from infra.sharding import scatter as module
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from relations.actions.follow import follow
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.world import drain_all, make_account

PATHS = (
    *(f"/api/v2/search?q=may&type={kind}" for kind in ("accounts", "statuses", "hashtags")),
    "/api/v2/search?q=may",
    "/api/v1/accounts/search?q=may",
    "/api/v1/accounts/search?q=may&following=true",
    "/api/v2/suggestions",
    "/api/v1/suggestions",
)
HEADER = "Tideline-Incomplete"


@pytest.fixture
def away(ann: int) -> str:
    """The shard of one of two friends."""
    friends = [make_account(name) for name in ("ben", "cora", "dan")]
    for friend in friends:
        follow(ann, friend)
    drain_all()
    assert len({*map(shard_of, friends)}) > 1
    return shard_of(friends[0])


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch, away: str) -> Callable[[], None]:
    """From now on this shard does not answer searches."""

    def fail() -> Any:
        raise OperationalError("away")

    def scatter_without(calls: Mapping[str, Any]) -> Any:
        lost = {away: partial(module._try, fail)} if away in calls else {}
        return scatter({**calls, **lost})

    return lambda: monkeypatch.setattr(module, "scatter", scatter_without)


def test_answers_that_lack_a_shard_say_so(ann: int, lose: Callable[[], None]) -> None:
    caller = Caller(ann)
    assert not [path for path in PATHS if HEADER in caller.get(path).headers]
    redis().call("FLUSHDB")  # what was found is kept for some seconds
    lose()
    answers = {path: caller.get(path) for path in PATHS}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert {path: answer.headers.get(HEADER) for path, answer in answers.items()} == dict.fromkeys(
        PATHS, "true"
    )


def test_what_some_shards_found_is_not_kept(ann: int, lose: Callable[[], None]) -> None:
    caller, path = Caller(ann), "/api/v2/search?q=may&type=statuses"
    lose()
    assert [caller.get(path).headers.get(HEADER) for _ in range(2)] == ["true", "true"]


def test_the_page_does_not_say_that_there_is_nothing(ann: int, lose: Callable[[], None]) -> None:
    browser = Browser(ann)
    assert "Nothing matches" in browser.read("/search?q=xyzzy")
    lose()
    page = browser.read("/search?q=xyzzy")
    assert "Part of the site does not answer" in page and "Nothing matches" not in page
    assert "there may be more people" in browser.read("/search")
