"""Quotas: never more than the quota, over processes, threads and periods."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.client import redis
from infra.caching.quotas import ALLOTMENTS_PER_QUOTA, QuotaClaim, Quotas
from infra.caching.single import SingleClient
from tests.budgets import count_calls
from tests.races import failures, run_together

PERIOD_S = 300
NOW_S = 1_000_000 * PERIOD_S + 7.0
ANN = QuotaClaim("account-1", 200)
LEASE = ANN.limit // ALLOTMENTS_PER_QUOTA


def used(quotas: Quotas, times: int, *claims: QuotaClaim, now_s: float = NOW_S) -> int:
    """How many of so many uses are granted."""
    return sum(quotas.use(claims or [ANN], now_s).is_granted for _ in range(times))


def test_a_quota_is_used_to_the_last_and_no_further(world: None) -> None:
    assert used(Quotas(PERIOD_S), 2 * ANN.limit) == ANN.limit


def test_processes_share_a_quota_up_to_a_lease_each(world: None) -> None:
    processes = [Quotas(PERIOD_S) for _ in range(4)]
    granted = sum(used(process, 1) for _ in range(ANN.limit) for process in processes)
    assert ANN.limit - len(processes) * LEASE <= granted <= ANN.limit


def test_threads_never_use_more_than_the_quota(world: None) -> None:
    quotas = Quotas(PERIOD_S)
    answers = run_together([lambda: used(quotas, 20)] * 32)
    assert not failures(answers)
    assert sum(answers) == ANN.limit


def test_a_new_period_begins_anew(world: None) -> None:
    quotas = Quotas(PERIOD_S)
    used(quotas, ANN.limit)
    assert used(quotas, 1) == 0
    assert used(quotas, 1, now_s=NOW_S + PERIOD_S) == 1


def test_who_is_refused_is_told_when_to_come_back(world: None) -> None:
    quotas = Quotas(PERIOD_S)
    used(quotas, ANN.limit)
    usage = quotas.use([ANN], NOW_S)
    assert (usage.is_granted, usage.limit, usage.remaining) == (False, ANN.limit, 0)
    assert usage.reset_at == (NOW_S // PERIOD_S + 1) * PERIOD_S


def test_what_remains_goes_down_by_one(world: None) -> None:
    quotas = Quotas(PERIOD_S)
    remaining = [quotas.use([ANN], NOW_S).remaining for _ in range(ANN.limit)]
    assert remaining == list(range(ANN.limit))[::-1]


@pytest.mark.parametrize("loss", ["flush", "away"])
def test_what_remains_never_grows_in_one_process(
    world: None, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    """Also when other processes use the quota, and Redis loses the count or goes away."""
    processes = [Quotas(PERIOD_S) for _ in range(3)]
    shown: list[list[int]] = [[] for _ in processes]
    for turn in range(40):
        if turn == 20 and loss == "flush":
            redis().call("FLUSHDB")
        if turn == 20 and loss == "away":
            monkeypatch.setattr(SingleClient, "run", _fail)
        for process, rest in zip(processes, shown, strict=True):
            rest.append(process.use([ANN], NOW_S).remaining)
    monkeypatch.undo()
    for rest in shown:
        assert rest == sorted(rest, reverse=True)


def _fail(*_: object) -> None:
    raise RedisConnectionError


def test_the_tighter_of_two_claims_refuses(world: None) -> None:
    application = QuotaClaim("application-1", 10)
    quotas = Quotas(PERIOD_S)
    assert used(quotas, 50, ANN, application) == 10
    assert quotas.use([ANN, application], NOW_S).limit == 10
    assert quotas.use([ANN], NOW_S).is_granted, "others of the account go on"


def test_a_hundred_uses_cost_few_round_trips_and_a_refusal_none(world: None) -> None:
    quotas = Quotas(PERIOD_S)
    many = QuotaClaim("application-2", 10_000)
    with count_calls() as calls:
        used(quotas, 100, many)
    assert calls.round_trips == 1
    used(quotas, ANN.limit)
    used(quotas, 1)
    with count_calls() as calls:
        assert used(quotas, 50) == 0
    assert calls.round_trips == 0


def test_without_redis_each_process_counts_for_itself(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise RedisConnectionError("away")

    one, other = Quotas(PERIOD_S), Quotas(PERIOD_S)
    with monkeypatch.context() as patch:
        patch.setattr(SingleClient, "run", away)
        assert used(one, 2 * ANN.limit) == used(other, 2 * ANN.limit) == ANN.limit
