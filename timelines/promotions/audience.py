"""Which campaigns may stand on a viewer's page. Pure; the same answer wherever it is asked."""

from collections.abc import Sequence
from hashlib import blake2b

from timelines.promotions.types import CampaignKind, RunningCampaign

# So many have a chance on a page: each costs a look at what it promotes.
MOST_OFFERED = 5
DAY_S = 86_400
_HASHES = 1 << 32


def choose_offered(
    campaigns: Sequence[RunningCampaign], viewer_id: int, now_s: float, all_kinds: bool
) -> list[RunningCampaign]:
    """At most MOST_OFFERED, the one whose turn it is first; turns change by the day (UTC).

    `all_kinds`: accounts and ads as well, which most clients could not show. 2 µs a campaign.
    """
    day = int(now_s) // DAY_S
    fitting = [
        campaign
        for campaign in campaigns
        if campaign.starts_at_s <= now_s < campaign.ends_at_s
        and (all_kinds or campaign.kind is CampaignKind.POST)
        and campaign.account_id != viewer_id
        and is_in_audience(campaign, viewer_id)
    ]
    fitting.sort(key=lambda campaign: _hash(viewer_id, campaign.id, day))
    return fitting[:MOST_OFFERED]


def is_in_audience(campaign: RunningCampaign, viewer_id: int) -> bool:
    """The same share of people for as long as the campaign runs; more of it adds to them."""
    return _hash(viewer_id, campaign.id) * 100 < campaign.audience_percent * _HASHES


def _hash(*numbers: int) -> int:
    return int.from_bytes(blake2b(repr(numbers).encode(), digest_size=4).digest())
