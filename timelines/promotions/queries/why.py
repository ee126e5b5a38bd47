"""Why a viewer sees a promotion, from the campaign's row on the default database."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from posts.ids import PostId
from timelines.promotions.errors import CampaignNotFound
from timelines.promotions.models import Campaign
from timelines.promotions.rules import is_in_audience
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
