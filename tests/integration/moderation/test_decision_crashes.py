"""Killed between any two steps: what is left, and that the drain, or a second try, ends it."""

from collections.abc import Iterator

import pytest

from accounts.models import Account, User
from accounts.queries.viewers import find_viewer
from accounts.types import Restriction
from infra.changes.failpoints import arm, disarm
from moderation.models import Decision
from moderation.types import DecisionKind
from tests.callers import is_disabled, token_of
from tests.integration.moderation.people import Circle, decide, decide_on
from tests.world import drain_all

ACCOUNT_STEPS = ["accounts.before_restricted", "accounts.before_profiles"]


class Killed(Exception):
    """What stands for the end of the process."""


@pytest.fixture
def circle(world: None) -> Iterator[Circle]:
    yield Circle()
    for name in (*ACCOUNT_STEPS, "moderation.before_enforcing"):
        disarm(name)


def killed_at(name: str) -> None:
    """Once; what runs later finds the way free."""

    def act() -> None:
        disarm(name)
        raise Killed

    arm(name, act)


@pytest.mark.parametrize("step", ACCOUNT_STEPS)
@pytest.mark.parametrize("kind", [DecisionKind.SUSPEND, DecisionKind.RESTORE])
def test_the_drain_completes_a_decision_on_an_account(
    circle: Circle, step: str, kind: DecisionKind
) -> None:
    expected = [circle.friends.public]
    if kind is DecisionKind.RESTORE:
        decide(circle.judged, DecisionKind.SUSPEND)
        drain_all()
        expected = circle.whole_home
    token = token_of(circle.judged)
    killed_at(step)
    decide(circle.judged, kind)
    assert Decision.objects.filter(account_id=circle.judged, kind=kind).count() == 1
    assert User.objects.get(pk=circle.judged).is_active is (kind is DecisionKind.RESTORE)
    assert is_disabled(token) is (kind is DecisionKind.SUSPEND)
    assert kind is DecisionKind.SUSPEND or find_viewer(token) is None
    drain_all()
    assert circle.home() == expected
    row = Account.objects.of(circle.judged).get()
    assert row.restrictions == (Restriction.SUSPENDED if kind is DecisionKind.SUSPEND else 0)


@pytest.mark.parametrize("kind", [DecisionKind.HIDE, DecisionKind.DELETE])
def test_the_drain_completes_a_decision_on_a_post(circle: Circle, kind: DecisionKind) -> None:
    killed_at("moderation.before_enforcing")
    decide_on(circle.friends, kind)
    assert circle.repost_by_them.public in circle.home()
    drain_all()
    assert circle.home() == [circle.answer.public, circle.repost_of_theirs.public]


def test_a_decision_that_failed_left_nothing(
    circle: Circle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Audit row, log-in and tokens stand or fall together."""
    monkeypatch.setattr("moderation.actions.decide.record_decision", lambda *_, **__: 1 / 0)
    token = token_of(circle.judged)
    with pytest.raises(ZeroDivisionError):
        decide(circle.judged, DecisionKind.SUSPEND)
    assert find_viewer(token) is not None
    assert User.objects.get(pk=circle.judged).is_active
    assert not Decision.objects.exists()
    drain_all()
    assert circle.home() == circle.whole_home
