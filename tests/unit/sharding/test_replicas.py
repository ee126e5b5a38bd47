"""The age of a replica's data, measured with log positions only.

Where a replica is: beside its shard, and in no list of databases that are worked on.

Probes: no caller waits past the deadline, and few threads wait for a store that hangs.
"""

import threading
import time
from types import SimpleNamespace

import pytest

from accounts.models import Account
from infra.sharding import shards
from infra.sharding.errors import ReplicaIsReadOnly, ReplicaMisconfigured, WrongPlacement
from infra.sharding.identity import setting_of
from infra.sharding.placement import shard_behind
from infra.sharding.probe import MAX_THREADS, CachedProbe, ProbeTimeout, probe_all
from infra.sharding.replica import MAX_SAMPLES, LagEstimator, LogPosition
from infra.sharding.replicas import is_replica_used, read_replica_or_shard, try_replica
from infra.sharding.router import PlacementRouter, guard_statement, refuse_writes
from infra.sharding.shards import all_aliases
from tests.waiting import PATIENCE_S


def shard(log: int) -> LogPosition:
    return LogPosition(log, is_replica=False, system=1, database=5)


def replica(log: int) -> LogPosition:
    return LogPosition(log, is_replica=True, system=1, database=5)


def test_quiet_shard_has_no_lag_however_long_ago_its_last_write_was():
    lag = LagEstimator()
    assert [lag.measure(shard(7), replica(7), now_s) for now_s in (0, 1, 3_600)] == [0, 0, 0]


def test_lag_is_the_age_of_the_newest_sample_that_the_replica_reached():
    lag = LagEstimator()
    lag.measure(shard(10), replica(10), 0)
    lag.measure(shard(20), replica(10), 1)
    assert lag.measure(shard(30), replica(10), 2) == 2
    assert lag.measure(shard(40), replica(25), 3) == 2
    assert lag.measure(shard(50), replica(49), 4) == 1
    assert lag.measure(shard(60), replica(60), 5) == 0


def test_replica_with_a_constant_lag_always_reports_it():
    lag = LagEstimator()
    found = [lag.measure(shard(n), replica(n - 10), n) for n in range(10, 100)]
    assert found[:10] == [None] * 10
    assert set(found[10:]) == {10}


def test_lag_is_unknown_before_the_replica_reaches_a_sample():
    lag = LagEstimator()
    assert lag.measure(shard(100), replica(99), 0) is None
    assert lag.measure(shard(100), replica(99), 60) is None
    assert lag.measure(shard(100), replica(100), 61) == 0


def test_stopped_replica_takes_bounded_memory_and_its_lag_is_unknown():
    lag = LagEstimator()
    for now_s in range(MAX_SAMPLES + 50):
        found = lag.measure(shard(now_s), replica(0), now_s)
    assert found is None
    assert len(lag._samples) == MAX_SAMPLES


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (replica(5), replica(5)),
        (shard(5), shard(5)),
        (shard(5), replica(5)._replace(system=2)),
        (shard(5), replica(5)._replace(database=6)),
    ],
)
def test_server_that_does_not_follow_the_shard_is_refused(one, other):
    with pytest.raises(ReplicaMisconfigured):
        LagEstimator().measure(one, other, 0)


ROUTER = PlacementRouter()


@pytest.fixture
def replicated(settings):
    settings.REPLICA_ALIASES = {"shard1": ["shard1_replica0", "shard1_replica1"]}


def send(wrapper, sql, alias="shard1_replica1"):
    return wrapper(lambda *_: "sent", sql, (), False, {"connection": SimpleNamespace(alias=alias)})


def test_replica_is_no_database_of_its_own(replicated, monkeypatch):
    monkeypatch.setattr(shards, "learn_shards", lambda: None)  # which asks the default database
    assert "shard1_replica1" not in all_aliases()
    assert shard_behind("shard1_replica1") == "shard1"
    assert shard_behind("shard1") is None


def test_errors_name_the_url_of_a_replica(replicated):
    assert setting_of("shard1_replica1") == "SHARD_REPLICA_URLS[1][1]"
    assert setting_of("shard1") == "SHARD_DATABASE_URLS[1]"
    assert setting_of("default") == "DATABASE_URL"


def test_nothing_is_migrated_there(replicated):
    assert not ROUTER.allow_migrate("shard1_replica1", "accounts", "account")
    assert not ROUTER.allow_migrate("shard1_replica1", "changes")
    assert not ROUTER.allow_migrate("shard1_replica1", "accounts", placement="everywhere")


def test_row_that_was_read_there_is_not_saved(replicated):
    row = Account(id=1)
    row._state.db = "shard1_replica1"
    assert ROUTER.db_for_read(Account, instance=row) == "shard1_replica1"
    with pytest.raises(ReplicaIsReadOnly):
        ROUTER.db_for_write(Account, instance=row)


def test_it_has_the_tables_of_its_shard(replicated):
    assert send(guard_statement, "SELECT 1 FROM accounts_account") == "sent"
    with pytest.raises(WrongPlacement):
        send(guard_statement, "SELECT 1 FROM accounts_user")


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "\n select 1", "WITH x AS (SELECT 1) SELECT * FROM x", "EXPLAIN SELECT 1"]
)
def test_reads_pass(sql):
    assert send(refuse_writes, sql) == "sent"


@pytest.mark.parametrize(
    "sql", ["INSERT INTO x VALUES (1)", "\n update x SET a = 1", "SET ROLE other", "SELECTED", ""]
)
def test_what_is_no_read_is_refused(sql):
    with pytest.raises(ReplicaIsReadOnly):
        send(refuse_writes, sql)


def test_without_a_replica_only_the_shard_is_read():
    assert try_replica("shard1", lambda _: pytest.fail("asked")) is None
    assert not is_replica_used("shard1")
    assert read_replica_or_shard("shard1", lambda alias: alias) == "shard1"


@pytest.fixture
def hung():
    """A store that hangs until the test ends; `calls` counts the questions."""

    class Store:
        calls = 0

        def __init__(self):
            self.answers = threading.Event()

        def __call__(self):
            self.calls += 1
            self.answers.wait(PATIENCE_S)
            return "at last"

    store = Store()
    yield store
    store.answers.set()


def test_store_that_hangs_is_left_out_and_keeps_one_thread(hung):
    probe = CachedProbe(valid_s=30, deadline_s=0.2)
    for _ in range(3):
        began = time.monotonic()
        assert probe.ask({"hung": hung, "well": lambda: 1}) == {"well": 1}
        # Waiting for the store itself would take five times as long.
        assert time.monotonic() - began < PATIENCE_S / 5
    assert hung.calls == 1


def test_answer_is_cached_while_it_is_valid():
    calls = []
    probe = CachedProbe(valid_s=60, deadline_s=20)
    answers = [probe.ask({"one": lambda: calls.append(1) or "fine"}) for _ in range(3)]
    assert answers == [{"one": "fine"}] * 3
    assert len(calls) == 1


def test_store_that_fails_is_left_out_and_probed_again():
    answers = iter([ValueError("no"), "well again"])

    def store():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    probe = CachedProbe(valid_s=60, deadline_s=20)
    assert probe.ask({"store": store}) == {}
    assert probe.ask({"store": store}) == {"store": "well again"}


def test_expired_answer_is_not_returned_for_a_store_that_hangs_now(hung):
    probe = CachedProbe(valid_s=0, deadline_s=0.2)
    assert probe.ask({"store": lambda: "fine"}) == {"store": "fine"}
    assert probe.ask({"store": hung}) == {}


def test_at_most_max_threads_wait_for_one_store(hung):
    for _ in range(MAX_THREADS + 2):
        answer = probe_all({"bounded": hung}, deadline_s=0.05)["bounded"]
        assert isinstance(answer.error, ProbeTimeout)
    assert hung.calls == MAX_THREADS
    assert answer.problem == "bounded does not answer: others wait for it already"
