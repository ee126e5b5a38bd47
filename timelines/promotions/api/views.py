"""Endpoints of a promotion: why a viewer sees it, and that it is hidden."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import orjson
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.ids import MAX_ACCOUNT_ID
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.ids import PostId
from timelines.promotions.actions.hide import hide_campaign
from timelines.promotions.errors import CampaignNotFound
from timelines.promotions.models import Campaign
from timelines.promotions.rules import is_in_audience
from timelines.promotions.schema import PromotionEntity
from timelines.promotions.types import CampaignKind


class Explanation(NamedTuple):
    """`paid_by`: empty if the operators did not say that others paid. `audience_percent`: the share
    of all people, chosen by chance. `account_id`: the promoted account, or the author of the
    promoted post: a viewer who mutes it sees the promotion no more; None for an ad."""

    campaign_id: int
    kind: CampaignKind
    paid_by: str
    audience_percent: int
    daily_cap: int
    starts_at: datetime
    ends_at: datetime
    account_id: int | None


class WhyPromotedView(Endpoint):
    """Why I see a promotion: who placed and pays for it, for which people, until when."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(responses=PromotionEntity)
    def get(self, request: ApiRequest, campaign_id: int) -> HttpResponse:
        _check(campaign_id)
        return json_response(orjson.dumps(_present(explain(campaign_id, request.account_id))))


class HidePromotionView(Endpoint):
    """Hide a promotion from my home timeline, for good."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses={200: None})
    def post(self, request: ApiRequest, campaign_id: int) -> HttpResponse:
        _check(campaign_id)
        explain(campaign_id, request.account_id)
        hide_campaign(request.account_id, campaign_id)
        return json_response(b"{}")


def _check(campaign_id: int) -> None:
    """Raises: CampaignNotFound for a number that no row can have."""
    if campaign_id > MAX_ACCOUNT_ID:
        raise CampaignNotFound


def _present(why: Explanation) -> dict[str, object]:
    return {
        "id": str(why.campaign_id),
        "type": why.kind,
        "placed_by": settings.INSTANCE_TITLE,
        "paid_by": why.paid_by or None,
        "audience": "share" if why.audience_percent < 100 else "everyone",
        "audience_percent": why.audience_percent,
        "most_a_day": why.daily_cap,
        "starts_at": why.starts_at.isoformat(),
        "ends_at": why.ends_at.isoformat(),
        "account_id": None if why.account_id is None else str(why.account_id),
    }


def explain(
    campaign_id: int, viewer_id: int, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Explanation:
    """Also of a campaign that has ended or is paused: the viewer may still have an open page.

    Raises: CampaignNotFound, also before the campaign starts and for others than its audience.
    Cost: one query by key.
    """
    row = Campaign.objects.filter(pk=campaign_id, starts_at__lte=clock()).first()
    if row is None or not is_in_audience(row, viewer_id):
        raise CampaignNotFound
    return Explanation(
        row.pk,
        CampaignKind(row.kind),
        row.paid_by,
        row.audience_percent,
        row.daily_cap,
        row.starts_at,
        row.ends_at,
        PostId.from_base36(row.post_id).author_id if row.post_id else row.account_id,
    )
