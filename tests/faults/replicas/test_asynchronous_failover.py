"""A standby that trails is promoted: what it lacks is noticed, named, and repaired elsewhere."""

from types import SimpleNamespace

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connections

from infra.sharding.pulse import find_pulse, list_losses
from operations.verbs.shards import ReconcileShard
from tests.callers import Caller
from tests.faults.replicas.test_synchronous_standby import promote
from tests.integration.jobs.outcomes import Outcome
from tests.integration.posts.interacting import do, reply, see
from tests.periodic import run_task
from tests.private_world import bring_back, forget_connections
from tests.reconciling import act, assert_audits_find_nothing, make_on, write
from tests.replicas import catch_replicas_up
from tests.server_faults import kill
from tests.truth import assert_drained_truth
from tests.waiting import until
from tests.world import drain_all

LOST = "shard0"
RECONCILE = ("--shard", LOST)


@pytest.fixture(scope="module")
def replica_counts():
    return {LOST: 1}


@pytest.fixture
def standby(services):
    """Is as new afterwards, and the shard is its first server again."""
    standby, place = services.replicas[f"{LOST}_replica0"], dict(connections.databases[LOST])
    yield standby
    connections.databases[LOST].update(place)
    forget_connections()
    bring_back(services.postgres[LOST])
    bring_back(standby)
    standby.stop()
    standby.copy()
    standby.start()


def cut_off(standby):
    """It receives nothing from now on."""
    with psycopg.connect(standby.url, autocommit=True) as session:
        session.execute("ALTER SYSTEM SET primary_conninfo = ''")
        session.execute("SELECT pg_reload_conf()")
        receivers = "SELECT count(*) FROM pg_stat_wal_receiver"
        until(lambda: session.execute(receivers).fetchone() == (0,))


def fail_over(services, standby):
    """Without asking what it lacks, as an operator without a synchronous standby must."""
    kill(services.postgres[LOST])
    promote(standby)
    connections.databases[LOST]["PORT"] = standby.url.partition("&port=")[2]
    forget_connections()


@pytest.fixture
def trio(services):
    """Ann is on the shard that is lost, bob and cyd on others."""
    ids = {"ann": make_on(LOST), "bob": make_on("shard1"), "cyd": make_on("shard2")}
    trio = SimpleNamespace(ids=SimpleNamespace(**ids))
    trio.ann, trio.bob, trio.cyd = (Caller(account) for account in ids.values())
    trio.liked = write(trio.bob, "liked")
    trio.kept = write(trio.ann, "kept")
    act(trio.cyd, ids["ann"], "follow")
    drain_all()
    run_task("take_pulse", [LOST])
    return trio


def write_what_is_lost(trio):
    """Acknowledged, delivered to other shards, and gone with the server."""
    trio.lost = write(trio.ann, "lost")
    trio.answer = reply(trio.ann, trio.liked, "lost answer")["id"]
    do(trio.ann, "favourite", trio.liked)
    act(trio.ann, trio.ids.bob, "follow")
    do(trio.bob, "favourite", trio.kept)
    drain_all()


def test_what_the_promoted_server_lacks_is_named_and_repaired(services, trio, standby):
    catch_replicas_up(services)
    cut_off(standby)
    write_what_is_lost(trio)
    assert see(trio.bob, trio.liked)["favourites_count"] == 1
    fail_over(services, standby)
    run_task("take_pulse", [LOST])
    assert [*list_losses()] == [LOST]
    assert Outcome(ReconcileShard(), *RECONCILE, "--dry-run").code in (0, 1)
    done = Outcome(ReconcileShard(), *RECONCILE)
    assert done.code == 0, done.out
    assert_is_told(trio, done.out)
    assert list_losses() == {}
    drain_all()
    assert_drained_truth()
    assert_audits_find_nothing()
    assert see(trio.bob, trio.liked)["favourites_count"] == 1
    assert see(trio.bob, trio.liked)["replies_count"] == 0
    assert trio.bob.get(f"/api/v1/statuses/{trio.lost}").status_code == 404
    assert see(trio.ann, trio.kept)["favourites_count"] == 1


def assert_is_told(trio, told):
    ids = trio.ids
    for line in (
        f"account {ids.ann}: edge {ids.ann} → {ids.bob}: there is no forward edge, a follow"
        " was lost",
        f"account {ids.ann}: favourite of {trio.liked} was lost",
        f"account {ids.ann}: post {trio.answer}, a reply to {trio.liked}, was lost",
        f"account {ids.ann}: post {trio.lost} was lost",
    ):
        assert f"{line}: repaired" in told, told


def test_promoted_server_without_a_gap_is_named_too_and_an_operator_may_say_so(
    services, trio, standby
):
    """One pulse does not show that a standby which is not synchronous had everything."""
    before = find_pulse(LOST)
    catch_replicas_up(services)
    fail_over(services, standby)
    run_task("take_pulse", [LOST])
    assert find_pulse(LOST).lost_since == before.beat_at
    assert find_pulse(LOST).timeline == before.timeline + 1
    assert Outcome(ReconcileShard(), *RECONCILE, "--nothing-lost").code == 0
    assert list_losses() == {}
    with pytest.raises(CommandError, match="no loss of shard0 is known"):
        Outcome(ReconcileShard(), *RECONCILE)
