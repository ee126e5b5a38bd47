"""Measures that end by themselves: in force until then, and ended once."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from structlog.testing import capture_logs

from accounts.actions.lock_user import lock_user
from accounts.errors import AccountPurged
from accounts.models import Account, User
from accounts.queries.viewers import find_viewer
from accounts.types import Restriction
from infra.changes.failpoints import arm, disarm
from infra.jobs.types import Work
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions import timed_restrictions
from moderation.actions.appeals import accept_appeal, file_appeal
from moderation.actions.by_owner import delete_own_account
from moderation.actions.timed_restrictions import end_due_restrictions
from moderation.errors import DeletedByOwner, EndIsOver, EndsNever
from moderation.jobs.purge_accounts import purge_accounts
from moderation.models import Appeal, Decision, TimedRestriction
from moderation.types import TIME_IS_OVER, DecisionKind
from tests.budgets import count_calls
from tests.callers import Caller, is_disabled, token_of
from tests.dying import Killed
from tests.integration.moderation.staff_pages import words_at
from tests.integration.pages.browsing import Browser
from tests.people import BECAUSE, Community, Visitor, decide
from tests.races import run_together
from tests.world import drain_all, make_account, make_accounts

ADD, USER = "/admin/moderation/decision/add/", "/admin/accounts/user/{}/change/"
DAY = timedelta(days=1)
STEP = "moderation.before_restriction_ended"


@pytest.fixture
def community(world: None) -> Iterator[Community]:
    yield Community()
    disarm(STEP)


def later(days: float = 1) -> datetime:
    return datetime.now(UTC) + days * DAY


def send(browser: Client, target: object, kind: str = "limit", **more: str) -> Any:
    return browser.post(ADD, {"kind": kind, "target": str(target), "reason": "spam", **more})


def kinds_on(account_id: int) -> list[str]:
    rows = Decision.objects.filter(account_id=account_id).order_by("pk")
    return [row.kind for row in rows]


def restrictions_of(account_id: int) -> Restriction:
    return Restriction(User.objects.get(pk=account_id).restrictions)


def test_a_limit_of_seven_days_is_shown_and_ends(community: Community, mia: Client) -> None:
    them, path = community.moderated, f"/api/v1/statuses/{community.theirs.public}"
    assert send(mia, them, lasts="7").status_code == 302
    end = TimedRestriction.objects.get().ends_at
    assert timedelta(days=6.9) < end - datetime.now(UTC) < timedelta(days=7)
    assert Visitor(community.unrelated).status_of(path) == 404
    shown = f"limited until {end:%Y-%m-%d %H:%M} UTC"
    assert shown in words_at(mia, USER.format(them))
    strike = Caller(them).get("/api/v1/strikes").json()[0]
    assert strike["ends_at"].startswith(f"{end:%Y-%m-%dT%H:%M:%S}")
    notice = Browser(them).read("/notices")
    assert f"{end.day} {end:%B %Y}, {end:%H:%M} UTC" in notice and "Until" in notice
    assert end_due_restrictions(end - timedelta(seconds=1)) == 0
    assert end_due_restrictions(end) == 1
    assert end_due_restrictions(end) == 0
    drain_all()
    assert Visitor(community.unrelated).status_of(path) == 200
    assert kinds_on(them) == ["limit", "restore"]
    last = Decision.objects.latest("pk")
    assert (last.actor, last.reason, last.restrictions) == (None, TIME_IS_OVER, 0)
    assert not TimedRestriction.objects.exists()
    assert "limited until" not in words_at(mia, USER.format(them))


def test_a_suspension_until_a_date_lets_the_person_in_again(
    community: Community, mia: Client
) -> None:
    them, browser = community.moderated, Browser(community.moderated)
    token = token_of(them)
    assert send(mia, them, "suspend", until="2099-12-03T10:30").status_code == 302
    drain_all()
    assert is_disabled(token)
    page = browser.read("/", status=403)
    assert "Your account is suspended" in page
    assert "3 December 2099, 10:30 UTC" in page and "spam" in page
    assert end_due_restrictions(datetime(2099, 12, 3, 10, 30, tzinfo=UTC)) == 1
    drain_all()
    assert Account.objects.of(them).get().restrictions == 0
    assert User.objects.get(pk=them).is_active
    assert community.home() == community.whole_home


def test_an_end_in_the_past_or_of_a_warning_is_refused(community: Community, mia: Client) -> None:
    for kind, more, fault in (
        ("limit", {"lasts": "until", "until": "2020-01-01T10:00"}, "must be in the future"),
        ("limit", {"lasts": "until"}, "Choose a date"),
        ("limit", {"lasts": "until", "until": "soon"}, "Enter a valid date"),
        ("limit", {"lasts": "-5"}, "Select a valid choice"),
        ("warn", {"lasts": "7"}, "Only limit, freeze and suspend"),
        ("restore", {"until": "2099-01-01T10:00"}, "Only limit, freeze and suspend"),
    ):
        answer = send(mia, community.moderated, kind, **more)
        assert answer.status_code == 200, (kind, more)
        assert fault in answer.content.decode(), (kind, more)
    assert not Decision.objects.exists()
    for kind, end, error in (
        (DecisionKind.LIMIT, datetime.now(UTC), EndIsOver),
        (DecisionKind.WARN, later(), EndsNever),
    ):
        with pytest.raises(error):
            decide(community.moderated, kind, ends_at=end)


def test_the_end_is_moved_and_taken_away(community: Community) -> None:
    them, first, second = community.moderated, later(1), later(5)
    decide(them, DecisionKind.FREEZE, ends_at=first)
    assert decide(them, DecisionKind.FREEZE, ends_at=first) is None
    assert decide(them, DecisionKind.FREEZE, ends_at=second) is not None
    assert end_due_restrictions(first) == 0
    assert TimedRestriction.objects.get().ends_at == second
    assert decide(them, DecisionKind.FREEZE) is not None
    assert end_due_restrictions(second) == 0
    assert restrictions_of(them) == Restriction.FROZEN
    assert decide(them, DecisionKind.FREEZE, ends_at=second) is not None
    decide(them, DecisionKind.RESTORE)
    assert not TimedRestriction.objects.exists()
    assert kinds_on(them) == ["freeze"] * 4 + ["restore"]


def test_each_restriction_ends_by_itself(community: Community) -> None:
    them, first = community.moderated, later(1)
    decide(them, DecisionKind.LIMIT, ends_at=first)
    decide(them, DecisionKind.FREEZE, ends_at=later(3))
    decide(them, DecisionKind.SUSPEND)
    assert end_due_restrictions(first) == 1
    assert restrictions_of(them) == Restriction.FROZEN | Restriction.SUSPENDED


def test_killed_at_the_end_it_ends_with_the_next_run(community: Community) -> None:
    them, end = community.moderated, later()
    decide(them, DecisionKind.LIMIT, ends_at=end)

    def kill() -> None:
        disarm(STEP)
        raise Killed

    arm(STEP, kill)
    with pytest.raises(Killed):
        end_due_restrictions(end)
    assert restrictions_of(them) == Restriction.LIMITED
    assert end_due_restrictions(end) == 1
    assert kinds_on(them) == ["limit", "restore"]


def test_two_processes_end_it_once(community: Community) -> None:
    them, end = community.moderated, later()
    decide(them, DecisionKind.LIMIT, ends_at=end)
    ended = run_together([lambda: end_due_restrictions(end)] * 2)
    assert sorted(ended) == [0, 1]
    assert kinds_on(them) == ["limit", "restore"]


def test_an_accepted_appeal_ends_it_and_one_against_an_old_measure_does_not_end_a_new_one(
    community: Community,
) -> None:
    them, end = community.moderated, later()
    strike = decide(them, DecisionKind.LIMIT, ends_at=end)
    assert strike is not None
    end_due_restrictions(end)
    again = decide(them, DecisionKind.LIMIT, ends_at=later(4))
    assert again is not None
    for decision in (strike, again):
        file_appeal(them, decision.pk, "It was not me")
    accept_appeal(Appeal.objects.get(decision=strike).pk, BECAUSE, datetime.now(UTC))
    assert restrictions_of(them) == Restriction.LIMITED
    accept_appeal(Appeal.objects.get(decision=again).pk, BECAUSE, datetime.now(UTC))
    assert restrictions_of(them) == Restriction.NONE
    assert not TimedRestriction.objects.exists()


def test_an_account_that_its_owner_deleted_does_not_come_back(community: Community) -> None:
    them = community.moderated
    delete_own_account(them, datetime.now(UTC))
    with pytest.raises(DeletedByOwner):
        decide(them, DecisionKind.SUSPEND, ends_at=later())


def test_a_suspended_account_that_its_owner_deletes_does_not_come_back(
    community: Community,
) -> None:
    them = community.moderated
    strike = decide(them, DecisionKind.SUSPEND)
    assert strike is not None
    file_appeal(them, strike.pk, "It was not me")
    for _ in range(2):
        delete_own_account(them, datetime.now(UTC))
    assert kinds_on(them) == ["suspend", "suspend"], "the log keeps the wish, once"
    with pytest.raises(DeletedByOwner):
        decide(them, DecisionKind.SUSPEND, ends_at=later())
    accept_appeal(Appeal.objects.get().pk, BECAUSE, datetime.now(UTC))
    assert restrictions_of(them) == Restriction.SUSPENDED
    decide(them, DecisionKind.PURGE)
    delete_own_account(them, datetime.now(UTC))
    assert kinds_on(them) == ["suspend", "suspend", "accept", "purge"]


def test_an_owner_who_deletes_during_a_timed_suspension_stays_away(community: Community) -> None:
    them, end = community.moderated, later()
    strike = decide(them, DecisionKind.SUSPEND, ends_at=end)
    assert strike is not None
    file_appeal(them, strike.pk, "It was not me")
    delete_own_account(them, datetime.now(UTC))
    assert end_due_restrictions(end) == 0
    accept_appeal(Appeal.objects.get().pk, BECAUSE, datetime.now(UTC))
    assert restrictions_of(them) == Restriction.SUSPENDED


def test_an_accepted_appeal_of_an_owner_brings_the_account_back(community: Community) -> None:
    them = community.moderated
    delete_own_account(them, datetime.now(UTC))
    file_appeal(them, Decision.objects.get().pk, "I did not mean it")
    accept_appeal(Appeal.objects.get().pk, BECAUSE, datetime.now(UTC))
    assert restrictions_of(them) == Restriction.NONE


def test_a_person_who_comes_back_is_not_purged(community: Community) -> None:
    them, now = community.moderated, datetime.now(UTC)
    decide(them, DecisionKind.SUSPEND, ends_at=later(60))
    drain_all()
    work = Work([Account.objects.of(them).get()._state.db or ""], them, None, 10, dry_run=False)
    assert [*purge_accounts(work, later(40), BECAUSE, now)] == []
    assert restrictions_of(them) == Restriction.SUSPENDED
    User.objects.filter(pk=them).update(suspended_at=later(-40))
    decide(them, DecisionKind.SUSPEND)
    drain_all()
    since = Account.objects.of(them).get().suspended_at
    assert since is not None and since > later(-1), "it is purged 30 days from now"


def test_the_end_of_a_user_that_is_gone_is_removed(world: None) -> None:
    account_id, end = make_account(), later()
    decide(account_id, DecisionKind.LIMIT, ends_at=end)
    TimedRestriction.objects.update(account_id=10**9)
    assert end_due_restrictions(end) == 0
    assert not TimedRestriction.objects.exists()


def test_the_end_of_a_purged_account_changes_nothing(community: Community) -> None:
    them, end = community.moderated, later()
    decide(them, DecisionKind.LIMIT, ends_at=end)
    decide(them, DecisionKind.SUSPEND)
    decide(them, DecisionKind.PURGE)
    for kind in (DecisionKind.SUSPEND, DecisionKind.FREEZE):
        with pytest.raises(AccountPurged):
            decide(them, kind, ends_at=end)
    purged = Restriction.SUSPENDED | Restriction.PURGED
    User.objects.filter(pk=them).update(restrictions=purged)
    end_due_restrictions(end)
    assert end_due_restrictions(end) == 0
    assert restrictions_of(them) == purged
    assert kinds_on(them) == ["limit", "suspend", "purge"]


def limit(account_ids: Sequence[int], end: datetime) -> None:
    for account_id in account_ids:
        decide(account_id, DecisionKind.LIMIT, ends_at=end)


def refuse(account_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who ends restrictions of this account gets an error."""
    restrict_users = timed_restrictions.restrict_users

    def restrict_or_fail(wanted: Sequence[tuple[User, Restriction]], now: datetime) -> None:
        restrict_users(wanted, now)
        if account_id in [user.pk for user, _ in wanted]:
            raise AccountPurged

    monkeypatch.setattr(timed_restrictions, "restrict_users", restrict_or_fail)


@pytest.mark.parametrize("place", [0, 3, 6])
def test_an_end_that_fails_stops_no_other_and_is_tried_again(
    world: None, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    people, end = make_accounts(7), later()
    limit(people, end)
    monkeypatch.setattr(timed_restrictions, "MOST_AT_ONCE", 3)
    with monkeypatch.context() as patch, capture_logs() as logs:
        refuse(people[place], patch)
        assert end_due_restrictions(end) == 6
        assert end_due_restrictions(end) == 0
    failed = [log for log in logs if log["event"] == "restriction.not_ended"]
    assert [log["account"] for log in failed] == [people[place]] * 2
    assert [row.account_id for row in TimedRestriction.objects.all()] == [people[place]]
    assert end_due_restrictions(end) == 1
    assert {tuple(kinds_on(account_id)) for account_id in people} == {("limit", "restore")}


def test_an_end_of_a_user_that_another_transaction_holds_waits(world: None) -> None:
    (held, free), end = make_accounts(2), later()
    limit([held, free], end)
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(held)
        (ended,) = run_together([lambda: end_due_restrictions(end)])
    assert ended == 1
    assert [row.account_id for row in TimedRestriction.objects.all()] == [held]
    assert end_due_restrictions(end) == 1


def test_killed_in_the_middle_of_many_each_ends_once(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    people, end, calls = make_accounts(9), later(), list[int]()
    limit(people, end)
    monkeypatch.setattr(timed_restrictions, "MOST_AT_ONCE", 3)

    def kill() -> None:
        calls.append(1)
        if len(calls) == 2:
            disarm(STEP)
            raise Killed

    arm(STEP, kill)
    with pytest.raises(Killed):
        end_due_restrictions(end)
    assert TimedRestriction.objects.count() == 6
    assert sum(run_together([lambda: end_due_restrictions(end)] * 3)) == 6
    assert {tuple(kinds_on(account_id)) for account_id in people} == {("limit", "restore")}
    drain_all()
    assert all(Account.objects.of(account_id).get().restrictions == 0 for account_id in people)


def test_many_ends_cost_few_statements(world: None) -> None:
    people, end = make_accounts(40), later()
    limit(people, end)
    drain_all()
    with count_calls() as calls:
        assert end_due_restrictions(end) == 40
    assert len(calls.statements) < 60, len(calls.statements)


def test_two_restrictions_of_an_account_that_end_together_are_two_decisions(world: None) -> None:
    account_id, end = make_account(), later()
    decide(account_id, DecisionKind.LIMIT, ends_at=end)
    decide(account_id, DecisionKind.SUSPEND, ends_at=end)
    token = token_of(account_id)
    assert end_due_restrictions(end) == 2
    assert kinds_on(account_id) == ["limit", "suspend", "restore", "restore"]
    assert restrictions_of(account_id) == Restriction.NONE
    assert Caller(account_id).get("/api/v1/accounts/verify_credentials").status_code == 200
    assert find_viewer(token) is None, "as with each end of a suspension"
