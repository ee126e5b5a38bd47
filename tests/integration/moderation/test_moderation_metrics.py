"""What /metrics says of the moderators' queue."""

import pytest

from accounts.models import User
from accounts.sql import RESTRICTED_USERS
from accounts.types import Restriction
from infra.sharding.sql import execute, fetch_one
from moderation.metrics import QueueCollector
from moderation.models import Report
from moderation.sampling import read_queue, sample_queue
from moderation.types import DecisionKind, ReportState
from tests.callers import Caller
from tests.people import Community, decide
from tests.plans import settle
from tests.redis_away import redis_away
from tests.world import restrict

HOUR_S = 3_600


def shown(now_s: float = 0.0) -> dict[str, float]:
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
    found = shown(later)
    assert found["tideline_reports_open"] == 3
    assert found["tideline_reports_oldest_seconds"] == pytest.approx(HOUR_S, abs=1)
    Report.objects.update(state=ReportState.RESOLVED)
    assert shown(later + 60)["tideline_reports_oldest_seconds"] > HOUR_S + 50, (
        "it goes on by itself"
    )
    sample_queue("default")
    found = shown(later)
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
    assert {n.removeprefix(prefix): v for n, v in shown().items() if prefix in n} == counts


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


def test_without_redis_there_are_no_series(community: Community) -> None:
    sample_queue("default")
    assert shown()

    with redis_away():
        assert shown() == {}
