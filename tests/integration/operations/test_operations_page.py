"""The operations page: samples of compensators, the JSON for the charts, long queries."""

import re
import threading
import time
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import connections
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

import operations
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.metrics import count_reads
from infra.changes.compensate import build_periodic_runner, drain
from infra.changes.lag import report_lag
from infra.changes.parking import park
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all
from operations import samples
from operations.pages import figures as module
from operations.samples import (
    FAMILY,
    FLEET,
    IS_SLOW,
    SLOT_COUNT,
    SLOT_S,
    DatabaseSample,
    _write,
    read_samples,
    sample_database,
    sample_fleet,
    slot_of,
)
from tests.budgets import count_calls
from tests.integration.changes.kinds import ALIAS, LANE, note
from tests.waiting import until


def charts_of(browser):
    answer = browser.get(reverse("operations_charts"))
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    return {one["name"]: one for one in answer.json()["charts"]}


def last(line):
    return [value for value in line if value is not None][-1]


@pytest.fixture
def alone(world):
    """Ends queries that tests before this one have left behind, as processes do that are killed."""
    for alias in all_aliases():
        fetch_all(
            alias, f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {IS_SLOW}"
        )


def test_an_hour_without_samples(operator):
    answer = operator.get(reverse("operations_charts")).json()
    assert len(answer["times"]) == SLOT_COUNT
    assert {len(chart["lines"]) for chart in answer["charts"]} == {0}
    assert all("No samples in this hour" in chart["notes"][0] for chart in answer["charts"])
    assert operator.get(reverse("operations")).status_code == 200


def test_what_compensators_see_is_drawn(operator, alone):
    note(1)
    park(ALIAS, note(2), "odd")
    execute(ALIAS, "UPDATE changes_change SET created_at = created_at - interval '5 s'")
    for alias in all_aliases():
        report_lag(alias)
        sample_database(alias)
    sample_fleet("default")
    charts = charts_of(operator)
    assert last(charts["parked"]["lines"][ALIAS]) == 2
    assert last(charts["lag"]["lines"][f"{ALIAS} lane {LANE}"]) >= 5
    assert last(charts["memory"]["lines"]["used"]) > 0
    assert list(charts["slow"]["lines"]) == [f"all {len(all_aliases())}"]


def test_deliveries_are_counted_as_they_are_filed(world):
    def delivered():
        redis().call("DEL", key(FAMILY, ALIAS))
        sample_database(ALIAS)
        (sample,) = read_samples(0)[0][ALIAS].values()
        return sample.delivered

    # More than what sessions of tests before this one may not have told of yet.
    note(400)
    before = delivered()
    drain(ALIAS, LANE)
    # PostgreSQL tells of a session's rows when it ends, at the latest.
    connections[ALIAS].close()
    until(lambda: delivered() >= before + 400)


def test_two_compensators_write_a_slot_once(world):
    now_s = time.time()
    for parked in (1, 2):
        _write(ALIAS, DatabaseSample({}, parked, 0, 0, 0.0), now_s)
    _write(ALIAS, DatabaseSample({}, 3, 0, 0, 0.0), now_s + SLOT_S)
    found = read_samples(now_s)[0][ALIAS]
    assert {slot: one.parked for slot, one in found.items()} == {
        slot_of(now_s): 1,
        slot_of(now_s) + 1: 3,
    }


def test_the_stream_is_bounded_and_ends(world):
    for slot in range(1, SLOT_COUNT + 20):
        _write(ALIAS, DatabaseSample({}, slot, 0, 0, 0.0), slot * SLOT_S)
    assert len(read_samples(0)[0][ALIAS]) == SLOT_COUNT
    assert 0 < redis().call("TTL", key(FAMILY, ALIAS)) <= samples.EXPIRES_AFTER_S


def test_a_hundred_lanes_fit_an_hour_in_little_memory(world):
    lags = dict.fromkeys(range(100), 12345.6)
    for slot in range(1, SLOT_COUNT):
        _write(ALIAS, DatabaseSample(lags, 5, 10**9, 3, 1.8e9), slot * SLOT_S)
    assert redis().call("MEMORY", "USAGE", key(FAMILY, ALIAS)) < 1_000_000


def test_database_without_a_report_is_not_zero(world):
    sample_database(ALIAS)
    (sample,) = read_samples(0)[0][ALIAS].values()
    assert (sample.oldest_s, sample.parked) == (None, None)


def test_cache_reads_are_those_of_all_processes_of_the_machine(operator):
    sample_fleet("default")
    (before,) = read_samples(0)[1].values()
    redis().call("DEL", key(FAMILY, FLEET))
    count_reads("tests.charts:v1", "filter", 3, 2)
    count_reads("tests.others:v1", "filter", 1)
    sample_fleet("default")
    (sample,) = read_samples(0)[1].values()
    hits, misses = before.reads.get("filter", (0, 0))
    assert sample.reads["filter"] == (hits + 4, misses + 2)
    assert sample.memory_bytes > 0


def test_compensators_take_the_samples(world):
    build_periodic_runner().run_due(all_aliases())
    assert all(len(one) == 1 for one in read_samples(0)[0].values())
    assert len(read_samples(0)[1]) == 1


def test_redis_away_is_said(operator, monkeypatch):
    def refuse(_):
        raise RedisConnectionError("refused")

    monkeypatch.setattr(module, "read_charts", refuse)
    answer = operator.get(reverse("operations_charts"))
    assert answer.json() == {"problem": "Redis does not answer: refused"}


@pytest.fixture
def long_query(alone):
    """Runs on ALIAS until the test is over."""
    parameters = connections[ALIAS].get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as session:
        thread = threading.Thread(target=_run, args=(session,))
        thread.start()
        yield
        session.cancel_safe()
        thread.join()


def _run(session):
    try:
        session.execute("SELECT pg_sleep(60), '<script>'")
    except psycopg.errors.QueryCanceled:
        return


def test_queries_that_run_long_are_listed(operator, long_query):
    def found():
        databases = operator.get(reverse("operations_now")).json()["databases"]
        assert [one["name"] for one in databases] == all_aliases()
        return {one["name"]: one["queries"] for one in databases}

    (query,) = until(lambda: found()[ALIAS])
    assert "pg_sleep" in query["text"]
    assert query["age_s"] > 1
    assert query["state"] == "active"
    sample_database(ALIAS)
    assert [one.slow for one in read_samples(0)[0][ALIAS].values()] == [1]


def test_a_database_that_is_down_is_said_to_be(operator, take_down):
    take_down("shard1")
    databases = operator.get(reverse("operations_now")).json()["databases"]
    problems = {one["name"]: one["problem"] for one in databases}
    assert problems.pop("shard1").startswith("shard1 does not answer:")
    assert set(problems.values()) == {""}


def test_what_the_endpoints_cost(operator):
    with count_calls() as calls:
        charts_of(operator)
    assert calls.round_trips == 1
    assert set(calls.sql) == {"default"}
    with count_calls() as calls:
        operator.get(reverse("operations_now"))
    assert {calls.sql[alias] for alias in settings.SHARD_ALIASES} == {1}
    assert calls.round_trips == 0


def test_nothing_is_written_by_looking(operator):
    for name in ("operations", "operations_charts", "operations_now"):
        assert operator.post(reverse(name)).status_code == 405
    assert redis().call("EXISTS", key(FAMILY, FLEET)) == 0


def test_pages_need_nothing_but_our_static_files():
    """As the content security policy has it: no script, style or handler in the page."""
    folder = Path(operations.__file__).parent
    templates = [path.read_text() for path in folder.glob("templates/**/*.html")]
    assert len(templates) > 5
    for text in templates:
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\son\w+=|https?://", text)
    named = {name for text in templates for name in re.findall(r"{% static '([^']+)' %}", text)}
    assert {"operations/charts.js", "operations/uplot/uPlot.iife.min.js"} <= named
    assert all(finders.find(name) for name in named)
