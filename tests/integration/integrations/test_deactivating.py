"""A product deactivates its accounts and activates them again: nothing is lost, nothing purged.

A product deletes an account that moderators suspended: the wish of its person is kept.
"""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import User
from infra.api.pages import Window
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from moderation.actions.appeals import accept_appeal, file_appeal
from moderation.actions.by_owner import deactivate_account
from moderation.errors import DeactivatedByProduct, StrikeNotFound
from moderation.jobs.purge_accounts import purge_accounts
from moderation.models import Appeal, Decision
from moderation.queries.decisions import list_strikes
from moderation.types import OWNER_DELETED, DecisionKind, DecisionOrigin
from tests.callers import assert_refused, is_disabled, token_of
from tests.dying import dying_at
from tests.integration.integrations.services import Service
from tests.people import BECAUSE, Visitor, decide
from tests.world import drain_all, publish

ACCOUNTS = "/api/v1/services/accounts"
ACCOUNT = f"{ACCOUNTS}/u1"
LATER = timedelta(days=400)


@pytest.fixture
def service(world):
    return Service("service:accounts")


@pytest.fixture
def provisioned(service):
    return int(service.put(ACCOUNT, {"username": "ann"}).json()["account_id"])


def put(service, **fields):
    answer = service.put(ACCOUNT, fields)
    assert answer.status_code == 200, answer.content
    return answer.json()


def is_seen(account_id):
    return Visitor().status_of(f"/api/v1/accounts/{account_id}") == 200


def purge(account_id):
    work = Work([shard_of(account_id)], account_id, None, 100)
    now = datetime.now(UTC)
    return [*purge_accounts(work, now + LATER, DecisionOrigin(None, "old"), now + LATER)]


def test_it_is_absent_while_it_is_inactive_and_comes_back_whole(service, provisioned):
    post_id = publish(provisioned)
    for _ in range(2):
        assert put(service, active=False)["suspended"] is True
    drain_all()
    assert not is_seen(provisioned)
    assert Visitor().status_of(f"/api/v1/statuses/{post_id.public}") == 404
    assert service.get(ACCOUNT).json()["suspended"] is True
    assert_refused(service.put(ACCOUNT, {"note": "x"}), 403)
    for _ in range(2):
        assert put(service, active=True, note="back")["suspended"] is False
    drain_all()
    assert is_seen(provisioned)
    assert Visitor().status_of(f"/api/v1/statuses/{post_id.public}") == 200
    assert Decision.objects.count() == 2, "a repeated call decides nothing"


def test_its_data_is_kept_for_ever_and_its_owner_got_no_strike(service, provisioned):
    put(service, active=False)
    drain_all()
    assert not purge(provisioned)
    put(service, active=True)
    assert not list_strikes(provisioned, Window(20)).items
    with pytest.raises(StrikeNotFound):
        file_appeal(provisioned, Decision.objects.earliest("pk").pk, "why?")


def test_what_moderators_suspend_the_product_does_not_bring_back(service, provisioned):
    put(service, active=False)
    assert decide(provisioned, DecisionKind.SUSPEND) is not None, "they take the suspension over"
    assert_refused(service.put(ACCOUNT, {"active": True}), 403)
    assert_refused(service.put(ACCOUNT, {"active": False}), 403)
    drain_all()
    assert not is_seen(provisioned)
    assert purge(provisioned), "it is theirs now, and ends as theirs"


def test_moderators_cannot_give_its_suspension_an_end(service, provisioned):
    put(service, active=False)
    with pytest.raises(DeactivatedByProduct):
        decide(provisioned, DecisionKind.SUSPEND, ends_at=datetime.now(UTC) + LATER)


def test_an_inactive_account_can_be_deleted_and_stays_deleted(service, provisioned):
    put(service, active=False)
    User.objects.update(suspended_at=datetime.now(UTC) - LATER)
    assert service.delete(ACCOUNT).status_code == 200
    assert User.objects.get(pk=provisioned).suspended_at > datetime.now(UTC) - timedelta(minutes=5)
    assert_refused(service.put(ACCOUNT, {"active": True}), 403)
    drain_all()
    assert purge(provisioned)


@pytest.mark.parametrize("is_active", [True, False])
def test_a_kill_leaves_all_or_nothing_and_a_repeated_call_does_the_rest(
    service, provisioned, is_active
):
    if is_active:
        put(service, active=False)
    with dying_at("changes.committed"):
        service.put(ACCOUNT, {"active": is_active})
    assert put(service, active=is_active)["suspended"] is not is_active
    drain_all()
    assert is_seen(provisioned) is is_active


def test_what_is_refused(service, provisioned):
    assert_refused(service.put(ACCOUNT, {"active": "maybe"}), 422)
    assert_refused(service.put(ACCOUNT, {"active": False, "note": "x"}), 422)
    assert_refused(service.put(f"{ACCOUNTS}/u2", {"active": False}), 404)
    User.objects.filter(pk=provisioned).update(is_staff=True)
    assert_refused(service.put(ACCOUNT, {"active": False}), 403)
    assert not Decision.objects.exists()


def test_a_list_has_both(service, provisioned):
    wanted = [
        {"external_id": "u1", "active": False},
        {"external_id": "u2", "active": False},
        {"external_id": "u3", "username": "cyd", "active": True},
    ]
    outcomes = service.put(ACCOUNTS, {"accounts": wanted}).json()
    assert [each["status"] for each in outcomes] == [200, 404, 200]
    assert [each.get("suspended") for each in outcomes] == [True, None, False]


def test_tokens_of_an_inactive_account_are_refused(service, provisioned):
    token = token_of(provisioned)
    deactivate_account(provisioned, datetime.now(UTC))
    assert is_disabled(token)


OF_PRODUCT = "/api/v1/services/accounts/u1"


def test_a_product_deletes_an_account_that_moderators_suspended(world: None) -> None:
    service = Service("service:accounts")
    account_id = int(service.put(OF_PRODUCT, {"username": "ann"}).json()["account_id"])
    strike = decide(account_id, DecisionKind.SUSPEND)
    assert strike is not None
    file_appeal(account_id, strike.pk, "It was not me")
    for _ in range(2):
        assert service.delete(OF_PRODUCT).status_code == 200
    reasons = Decision.objects.order_by("pk").values_list("reason", flat=True)
    assert list(reasons)[1:] == [OWNER_DELETED]
    accept_appeal(Appeal.objects.get().pk, BECAUSE, datetime.now(UTC))
    drain_all()
    assert Visitor().status_of(f"/api/v1/accounts/{account_id}") == 404
