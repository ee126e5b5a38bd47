"""A search that a database broke off is not asked of it again so soon."""

import time

import pytest
from django.db import OperationalError
from psycopg.errors import QueryCanceled

from infra.caching import costly_searches
from infra.deadline import begin_deadline, end_deadline
from infra.sharding.sql import fetch_all
from tests.callers import Caller
from tests.world import make_account

SEARCHES = [
    ("/api/v2/search", {"type": "statuses"}, ""),
    ("/api/v2/search", {"type": "statuses"}, " from:me"),
    ("/api/v2/search", {"type": "statuses"}, " in:library"),
    ("/api/v1/accounts/search", {}, ""),
]


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    costly_searches._COSTLY.clear()


@pytest.mark.parametrize(("path", "parameters", "more"), SEARCHES)
def test_the_same_search_costs_no_statement_for_a_while(world, monkeypatch, path, parameters, more):
    caller, asked = Caller(make_account()), []

    def break_off(alias, sql, params):
        asked.append(sql)
        raise OperationalError from QueryCanceled("broken off")

    def search(text, **others):
        before = len(asked)
        answer = caller.get(path, {**parameters, "q": text + more, **others})
        assert answer.status_code == 503, answer.content
        return len(asked) - before

    monkeypatch.setattr(costly_searches, "COSTLY_S", 0)
    monkeypatch.setattr(costly_searches, "fetch_all", break_off)
    assert search("dear")
    assert not search("dear") and not search("dear", limit=7)
    assert search("other")
    monkeypatch.setattr(costly_searches, "now_ms", lambda: time.time() * 1000 + 11_000)
    assert search("dear")


@pytest.mark.parametrize(("had_s", "is_kept"), [(0.7, True), (0.1, False)])
def test_a_search_that_had_little_time_is_asked_again(world, had_s, is_kept):
    def search():
        token = begin_deadline(time.monotonic() + had_s)
        try:
            costly_searches.search_once("shard0", "SELECT pg_sleep(20)", {}, "a search")
        finally:
            end_deadline(token)

    fetch_all("shard0", "SELECT 1")
    for expected in (OperationalError, costly_searches.SearchTooCostly if is_kept else None):
        with pytest.raises(OperationalError) as error:
            search()
        assert expected is None or type(error.value) is expected
