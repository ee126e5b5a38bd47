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
from tests.people import Community, decide, decide_on
from tests.world import drain_all

ACCOUNT_STEPS = ["accounts.before_restricted", "accounts.before_profiles"]


class Killed(Exception):
    """Simulates the end of the process."""


@pytest.fixture
def community(world: None) -> Iterator[Community]:
    yield Community()
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
    community: Community, step: str, kind: DecisionKind
) -> None:
    expected = [community.friends.public]
    if kind is DecisionKind.RESTORE:
        decide(community.moderated, DecisionKind.SUSPEND)
        drain_all()
        expected = community.whole_home
    token = token_of(community.moderated)
    killed_at(step)
    decide(community.moderated, kind)
    assert Decision.objects.filter(account_id=community.moderated, kind=kind).count() == 1
    assert User.objects.get(pk=community.moderated).is_active is (kind is DecisionKind.RESTORE)
    assert is_disabled(token) is (kind is DecisionKind.SUSPEND)
    assert kind is DecisionKind.SUSPEND or find_viewer(token) is None
    drain_all()
    assert community.home() == expected
    row = Account.objects.of(community.moderated).get()
    assert row.restrictions == (Restriction.SUSPENDED if kind is DecisionKind.SUSPEND else 0)


@pytest.mark.parametrize("kind", [DecisionKind.HIDE, DecisionKind.DELETE])
def test_the_drain_completes_a_decision_on_a_post(community: Community, kind: DecisionKind) -> None:
    killed_at("moderation.before_enforcing")
    decide_on(community.friends, kind)
    assert community.repost_by_them.public in community.home()
    drain_all()
    assert community.home() == [community.answer.public, community.repost_of_theirs.public]


def test_a_decision_that_failed_left_nothing(
    community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Audit row, log-in and tokens stand or fall together."""
    monkeypatch.setattr("moderation.actions.decide.record_decision", lambda *_, **__: 1 / 0)
    token = token_of(community.moderated)
    with pytest.raises(ZeroDivisionError):
        decide(community.moderated, DecisionKind.SUSPEND)
    assert find_viewer(token) is not None
    assert User.objects.get(pk=community.moderated).is_active
    assert not Decision.objects.exists()
    drain_all()
    assert community.home() == community.whole_home
