"""A shard answers and refuses writes: it is a standby before its promotion, or its disk is full."""

from functools import partial

import psycopg
import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from relations.actions.follow import follow
from tests.callers import Caller
from tests.waiting import until
from tests.world import drain_all, make_accounts, publish

pytestmark = pytest.mark.core

SHOW = "SHOW default_transaction_read_only"
FAILED = "SELECT attempts, state, is_waiting FROM changes_change"


@pytest.fixture
def refuse(services, request):
    """Makes a shard refuse writes; returns what makes it accept them again."""

    def change(alias, statement, value):
        with psycopg.connect(services.postgres[alias].url, autocommit=True) as admin:
            admin.execute(f"ALTER SYSTEM {statement}")
            admin.execute("SELECT pg_reload_conf()")
        until(lambda: fetch_all(alias, SHOW) == [(value,)])

    def begin(alias):
        accept = partial(change, alias, "RESET default_transaction_read_only", "off")
        request.addfinalizer(accept)
        change(alias, "SET default_transaction_read_only = on", "on")
        return accept

    return begin


def test_its_accounts_read_and_their_writes_are_refused_for_now(refuse):
    me = make_accounts(1)[0]
    post, caller = publish(me), Caller(me)
    accept = refuse(shard_of(me))
    assert caller.get(f"/api/v1/statuses/{post.public}").status_code == 200
    answer = caller.post("/api/v1/statuses", {"status": "new"})
    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "2")
    accept()
    assert caller.post("/api/v1/statuses", {"status": "new"}).status_code == 200


def test_changes_for_it_wait_and_use_up_no_attempt(refuse, settings):
    settings.CHANGE_MAX_ATTEMPTS = 1
    me, *others = make_accounts(8)
    other = next(one for one in others if shard_of(one) != shard_of(me))
    refuse(shard_of(other))
    follow(me, other)
    drain_all()
    assert set(fetch_all(shard_of(me), FAILED)) == {(0, 0, True)}
