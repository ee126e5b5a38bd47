"""Metrics of decisions: each is counted once, for all processes, and never taken back.

What /metrics says of the moderators' queue.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.conf import settings
from django.db import connections, transaction
from django.test import Client

from accounts.models import User
from accounts.sql import RESTRICTED_USERS
from accounts.types import Restriction
from infra.caching.client import redis
from infra.sharding.sql import execute, fetch_one
from moderation import sampling
from moderation.metrics import DecisionsCollector, QueueCollector
from moderation.models import Decision, Report
from moderation.sampling import (
    DecisionCounts,
    count_since,
    read_decision_counts,
    read_queue,
    sample_decisions,
    sample_queue,
    store_counts,
)
from moderation.types import DecisionKind, ReportState
from tests.callers import Caller
from tests.other_process import environment_of_this_test
from tests.people import Community, decide
from tests.plans import settle
from tests.redis_away import redis_away, wait_for_redis
from tests.waiting import PATIENCE_S
from tests.world import make_accounts, restrict

AGE = "UPDATE moderation_decision SET created_at = created_at - interval '2 hours'"


@pytest.fixture
def moderated(world: None) -> list[int]:
    return make_accounts(4)


def shown() -> dict[str, float]:
    """Decisions by kind, without kinds of which there are none."""
    (family,) = DecisionsCollector().collect()
    return {one.labels["kind"]: one.value for one in family.samples if one.value}


def sampled() -> dict[str, float]:
    sample_decisions("default")
    return shown()


def test_a_decision_of_a_command_in_another_process_is_counted_once(moderated: list[int]) -> None:
    command = ["accounts", "suspend", "--account", str(moderated[0]), "--reason", "spam"]
    subprocess.run(
        [sys.executable, "manage.py", *command],
        env=environment_of_this_test(),
        cwd=settings.BASE_DIR,
        check=True,
        capture_output=True,
    )
    decide(moderated[1], DecisionKind.WARN)
    for _ in range(2):
        assert sampled() == {"suspend": 1, "warn": 1}
    page = Client().get("/metrics").content.decode()
    lines = [
        line for line in page.splitlines() if line.startswith("tideline_moderation_decisions_total")
    ]
    assert len(lines) == len(DecisionKind)
    assert {line for line in lines if not line.endswith(" 0.0")} == {
        'tideline_moderation_decisions_total{kind="suspend"} 1.0',
        'tideline_moderation_decisions_total{kind="warn"} 1.0',
    }


def test_a_decision_that_changes_nothing_or_fails_is_not_counted(
    moderated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(moderated[0], DecisionKind.LIMIT)
    decide(moderated[0], DecisionKind.LIMIT)
    monkeypatch.setattr("moderation.models.Decision.save", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decide(moderated[1], DecisionKind.LIMIT)
    assert sampled() == {"limit": 1}


def test_a_decision_that_is_seen_after_a_later_one_is_counted(moderated: list[int]) -> None:
    begun, may_end = Event(), Event()

    def decide_slowly() -> None:
        try:
            with transaction.atomic(using="default"):
                decide(moderated[0], DecisionKind.WARN)
                begun.set()
                assert may_end.wait(PATIENCE_S)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(decide_slowly)
        assert begun.wait(PATIENCE_S)
        decide(moderated[1], DecisionKind.LIMIT)
        assert sampled() == {"limit": 1}
        may_end.set()
        slow.result(PATIENCE_S)
    assert sampled() == {"limit": 1, "warn": 1}


def test_old_decisions_are_not_counted_again(moderated: list[int]) -> None:
    for account_id in moderated[:3]:
        decide(account_id, DecisionKind.WARN)
    assert read_settled() == (0, {})
    execute("default", AGE)
    last = Decision.objects.latest("id")
    assert read_settled() == (last.pk, {"warn": 3})
    decide(moderated[3], DecisionKind.WARN)
    assert read_settled() == (last.pk, {"warn": 3})
    assert shown() == {"warn": 4}
    assert count_since(DecisionCounts(last.pk, {"warn": 70})).counts == {"warn": 71}


def read_settled() -> tuple[int, dict[str, int]]:
    sample_decisions("default")
    found = read_decision_counts()
    return found.settled_id, {kind: count for kind, count in found.settled.items() if count}


def test_many_are_counted_a_part_at_a_time_and_shown_as_a_whole(
    moderated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MOST", 2)
    for account_id in moderated[:3]:
        decide(account_id, DecisionKind.WARN)
    execute("default", AGE)
    assert sampled() == {}
    assert sampled() == {"warn": 3}


def test_a_compensator_with_a_lower_count_writes_nothing(moderated: list[int]) -> None:
    decide(moderated[0], DecisionKind.WARN)
    late = count_since(DecisionCounts())
    decide(moderated[1], DecisionKind.WARN)
    assert sampled() == {"warn": 2}
    store_counts(late)
    assert shown() == {"warn": 2}


def test_after_a_flush_all_are_counted_again(moderated: list[int]) -> None:
    decide(moderated[0], DecisionKind.WARN)
    execute("default", AGE)
    sample_decisions("default")
    redis().call("DEL", sampling.DECISIONS_KEY)
    assert shown() == {}
    assert sampled() == {"warn": 1}


def test_without_redis_there_are_no_series(moderated: list[int]) -> None:
    decide(moderated[0], DecisionKind.WARN)
    sample_decisions("default")

    with redis_away():
        assert shown() == {}
    wait_for_redis()
    assert shown() == {"warn": 1}


HOUR_S = 3_600


def queue(now_s: float = 0.0) -> dict[str, float]:
    """Values by name, and by label where there is one."""
    families = QueueCollector(lambda: now_s).collect()
    samples = [sample for family in families for sample in family.samples]
    return {".".join([one.name, *one.labels.values()]): one.value for one in samples}


def report(community: Community) -> Report:
    answer = Caller(community.me).post("/api/v1/reports", {"account_id": str(community.moderated)})
    assert answer.status_code == 200
    return Report.objects.get(pk=answer.json()["id"])


def test_open_reports_and_the_age_of_the_oldest(community: Community) -> None:
    first, *_ = (report(community) for _ in range(3))
    sample_queue("default")
    later = first.created_at.timestamp() + HOUR_S
    found = queue(later)
    assert found["tideline_reports_open"] == 3
    assert found["tideline_reports_oldest_seconds"] == pytest.approx(HOUR_S, abs=1)
    Report.objects.update(state=ReportState.RESOLVED)
    assert queue(later + 60)["tideline_reports_oldest_seconds"] > HOUR_S + 50, (
        "it goes on by itself"
    )
    sample_queue("default")
    found = queue(later)
    assert (found["tideline_reports_open"], found["tideline_reports_oldest_seconds"]) == (0, 0)


def test_pending_appeals(community: Community) -> None:
    decision = decide(community.moderated, DecisionKind.WARN)
    assert decision is not None
    path = f"/api/v1/strikes/{decision.pk}/appeal"
    assert Caller(community.moderated).post(path, {"text": "no"}).status_code == 200
    assert read_queue().pending_appeals == 1


def test_accounts_by_what_they_are_restricted_to(community: Community) -> None:
    decide(community.moderated, DecisionKind.LIMIT)
    decide(community.moderated, DecisionKind.SUSPEND)
    decide(community.friend, DecisionKind.LIMIT)
    restrict(community.unrelated, Restriction.SUSPENDED | Restriction.PURGED)
    counts = {"limited": 2, "frozen": 0, "suspended": 1, "purged": 1}
    assert read_queue().restricted == counts
    sample_queue("default")
    prefix = "tideline_restricted_accounts."
    assert {n.removeprefix(prefix): v for n, v in queue().items() if prefix in n} == counts


def test_they_are_counted_by_an_index_of_them_alone(community: Community) -> None:
    fill = """
    INSERT INTO accounts_user (username, email, password, is_superuser, is_staff, is_active,
        date_joined)
    SELECT 'filler' || n, '', '!', false, false, true, now() FROM generate_series(1, 20000) AS n
    """
    execute("default", fill)
    settle("default", "accounts_user")
    plan = fetch_one("default", f"EXPLAIN (FORMAT JSON) {RESTRICTED_USERS}")
    assert plan is not None
    assert "user_restricted" in str(plan[0])
    assert User.objects.count() > 20_000


def test_without_redis_the_queue_has_no_series(community: Community) -> None:
    sample_queue("default")
    assert queue()

    with redis_away():
        assert queue() == {}
