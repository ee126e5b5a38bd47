"""The activity of the site by week, of real rows."""

import time
from itertools import pairwise

import pytest
from django.core.cache import cache

from accounts.models import User
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.delete_post import delete_post
from posts.queries import site_activity
from tests.budgets import count_calls
from tests.callers import Caller
from tests.races import run_together
from tests.world import publish

PATH = "/api/v1/instance/activity"
WEEK_S = 7 * 86_400


@pytest.fixture(autouse=True)
def nothing_counted(world):
    cache.delete(site_activity.CACHE_NAME)
    yield
    cache.delete(site_activity.CACHE_NAME)


def test_posts_tokens_and_accounts_by_week(people):
    me = Caller(people[0])
    for weeks_ago in (40, 12, 11, 5, 1, 0, 0):  # an author's ids grow
        publish(people[weeks_ago % 3], clock_s=lambda w=weeks_ago: time.time() - w * WEEK_S)
    delete_post(publish(people[0]))
    weeks = Caller(None).get(PATH).json()
    assert len(weeks) == 12
    starts = [int(week["week"]) for week in weeks]
    assert all(earlier - later == WEEK_S for earlier, later in pairwise(starts))
    assert time.strftime("%a %H:%M:%S", time.gmtime(starts[0])) == "Mon 00:00:00"
    assert 0 <= time.time() - starts[0] < WEEK_S
    counted = [int(week["statuses"]) for week in weeks]
    assert counted == [2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert weeks[0]["registrations"] == str(User.objects.count())
    assert int(weeks[0]["logins"]) >= 1, "mine"
    assert {week["registrations"] for week in weeks[1:]} == {"0"}
    with count_calls() as calls:
        assert me.get(PATH).json() == weeks
    assert [s for s in calls.statements if "TABLESAMPLE" in s.sql] == []


def test_a_sample_is_scaled_up(people, monkeypatch):
    monkeypatch.setattr(site_activity, "fetch_one", lambda *_: (site_activity.SAMPLE_ROWS * 4,))
    monkeypatch.setattr(site_activity, "fetch_all", lambda *_: [(7, 5)])
    assert site_activity._estimate("shard0", "posts_post", "", 0) == {7: 20}


def test_readers_at_once_count_once(people, monkeypatch):
    counted = []
    count = site_activity._count
    monkeypatch.setattr(
        site_activity, "_count", lambda now_s: (counted.append(now_s), count(now_s))[1]
    )
    answers = run_together([lambda: site_activity.get_site_activity(time.time())] * 6)
    assert len(counted) == 1
    assert all(answer == answers[0] for answer in answers)


def test_a_table_that_was_never_analysed_is_not_taken_for_empty(people):
    publish(people[0])
    alias = shard_of(people[0])
    # Another test may have analysed it.
    execute(alias, "UPDATE pg_class SET reltuples = -1 WHERE relname = 'posts_post'")
    assert fetch_one(alias, site_activity.SIZE, ("posts_post",))[0] > 0
