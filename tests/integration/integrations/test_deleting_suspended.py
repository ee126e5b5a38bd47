"""A product deletes an account that moderators suspended: the wish of its person is kept."""

from datetime import UTC, datetime

from moderation.actions.appeals import accept_appeal, file_appeal
from moderation.models import Appeal, Decision
from moderation.types import OWNER_DELETED, DecisionKind
from tests.integration.integrations.services import Service
from tests.people import BECAUSE, Visitor, decide
from tests.world import drain_all

ACCOUNT = "/api/v1/services/accounts/u1"


def test_a_product_deletes_an_account_that_moderators_suspended(world: None) -> None:
    service = Service("service:accounts")
    account_id = int(service.put(ACCOUNT, {"username": "ann"}).json()["account_id"])
    strike = decide(account_id, DecisionKind.SUSPEND)
    assert strike is not None
    file_appeal(account_id, strike.pk, "It was not me")
    for _ in range(2):
        assert service.delete(ACCOUNT).status_code == 200
    reasons = Decision.objects.order_by("pk").values_list("reason", flat=True)
    assert list(reasons)[1:] == [OWNER_DELETED]
    accept_appeal(Appeal.objects.get().pk, BECAUSE, datetime.now(UTC))
    drain_all()
    assert Visitor().status_of(f"/api/v1/accounts/{account_id}") == 404
