"""Why a viewer sees a promotion: what the API says, and to which viewers."""

from datetime import UTC, datetime

from infra.api.pages import Window
from infra.caching.client import redis
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.timelines.promotions.campaigns import (
    DAY,
    blend,
    campaigns_of,
    organic,
    run_campaign,
)
from tests.world import make_account, make_accounts, publish
from timelines.promotions.actions.hide import hide_campaign
from timelines.promotions.models import Campaign
from timelines.promotions.rules import is_in_audience

PATH = "/api/v1/promotions/"


def test_it_says_who_placed_it_for_whom_and_until_when(as_ann, settings):
    settings.INSTANCE_TITLE = "Tide"
    seller = make_account("seller")
    campaign = run_campaign(account_id=seller, paid_by="Acme", daily_cap=2)
    row = Campaign.objects.get()
    assert as_ann.get(f"{PATH}{campaign}").json() == {
        "id": str(campaign),
        "type": "account",
        "placed_by": "Tide",
        "paid_by": "Acme",
        "audience": "everyone",
        "audience_percent": 100,
        "most_a_day": 2,
        "starts_at": row.starts_at.isoformat(),
        "ends_at": row.ends_at.isoformat(),
        "account_id": str(seller),
    }
    post = publish(seller)
    of_post = as_ann.get(f"{PATH}{run_campaign(post_id=post.base36)}").json()
    assert (of_post["account_id"], of_post["paid_by"]) == (str(seller), None)
    assert as_ann.get(f"{PATH}{run_campaign()}").json()["account_id"] is None


def test_only_its_audience_learns_of_it_and_not_before_it_starts(as_ann, ann):
    some = [ann, *make_accounts(20)]
    campaign = Campaign.objects.get(pk=run_campaign(audience_percent=50))
    for account_id in some:
        status = Caller(account_id).get(f"{PATH}{campaign.pk}").status_code
        assert status == (200 if is_in_audience(campaign, account_id) else 404)
    later = run_campaign(starts_at=datetime.now(UTC) + DAY, ends_at=datetime.now(UTC) + 2 * DAY)
    ended = run_campaign(ends_at=datetime.now(UTC) - DAY / 2, is_paused=True)
    assert as_ann.get(f"{PATH}{later}").status_code == 404
    assert as_ann.get(f"{PATH}{ended}").json()["audience"] == "everyone"
    for unknown in (99, 10**30):
        assert as_ann.get(f"{PATH}{unknown}").status_code == 404


def test_it_costs_one_query(as_ann):
    campaign = run_campaign()
    as_ann.get(f"{PATH}{campaign}")
    with count_calls() as calls:
        as_ann.get(f"{PATH}{campaign}")
    assert len(calls.statements) == 1


def test_a_hidden_promotion_is_gone_at_the_next_read_for_this_viewer_only(as_ann, ann):
    ids, (other,) = organic(6), make_accounts(1)
    campaign = run_campaign()
    shown = str(campaign)
    for viewer in (ann, other):
        assert shown in campaigns_of(blend(viewer, ids, Window(20)))
    for _ in range(2):
        assert as_ann.post(f"{PATH}{campaign}/hide").status_code == 200
        assert shown not in campaigns_of(blend(ann, ids, Window(20)))
    assert shown in campaigns_of(blend(other, ids, Window(20)))
    assert (
        as_ann.post(f"{PATH}9999/hide").status_code
        == as_ann.post(f"{PATH}{10**30}/hide").status_code
    )
    redis().call("FLUSHDB")
    assert shown not in campaigns_of(blend(ann, ids, Window(20)))


def test_a_process_that_dies_before_the_cache_ends_hides_it_after_a_repetition(
    as_ann, ann, monkeypatch
):
    ids, campaign = organic(6), run_campaign()
    blend(ann, ids, Window(20))
    with monkeypatch.context() as patch:
        patch.setattr("timelines.promotions.actions.hide.end_hidden_of", lambda _: None)
        hide_campaign(ann, campaign)
    assert str(campaign) in campaigns_of(blend(ann, ids, Window(20)))
    hide_campaign(ann, campaign)
    assert str(campaign) not in campaigns_of(blend(ann, ids, Window(20)))
