"""A web server that is started together with its worker is ready when the worker delivers."""

import pytest
from django.test import Client

from infra.changes.running_drainers import forget_drainer, report_drainer
from tests.clocks import Clock, StandInTime
from web import delivery


@pytest.fixture
def clock(world: None, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(delivery, "time", StandInTime(clock))
    monkeypatch.setattr(delivery._Waiting, "until_s", 0.0)
    return clock


def ready() -> tuple[int, str]:
    answer = Client().get("/health/ready")
    return answer.status_code, answer.json()["status"]


def test_it_is_ready_when_a_worker_has_reported_and_stays_so_without_one(clock: Clock) -> None:
    delivery.wait_for_delivery()
    assert ready() == (503, "waiting for a worker")
    report_drainer()
    assert ready() == (200, "ok")
    forget_drainer()
    assert ready() == (200, "ok"), "the compensator delivers"


def test_a_server_that_is_started_while_all_workers_are_away_serves_after_a_minute(
    clock: Clock,
) -> None:
    delivery.wait_for_delivery()
    clock.now += delivery.LONGEST_S
    assert ready() == (200, "ok")


def test_a_server_that_was_not_told_to_wait_is_ready_without_a_worker(clock: Clock) -> None:
    assert ready() == (200, "ok")
