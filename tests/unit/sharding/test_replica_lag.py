"""The age of a replica's data, measured with log positions only."""

import pytest

from infra.sharding.errors import ReplicaMisconfigured
from infra.sharding.replica_lag import MAX_SAMPLES, LagEstimator, LogPosition


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
