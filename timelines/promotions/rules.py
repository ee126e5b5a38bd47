"""Which campaigns a viewer may see: by audience, and by the viewer's relationships. Pure."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

from posts.fragments.read import is_open
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts
from relations.types import UNRELATED
from relations.visibility import Surface, may_show
from timelines.promotions.types import Ad, CampaignKind, RunningCampaign

# The most campaigns that a page considers: each costs a read of its target.
MOST_OFFERED = 5
DAY_S = 86_400
_HASHES = 1 << 32


def choose_offered(
    campaigns: Sequence[RunningCampaign], viewer_id: int, now_s: float, all_kinds: bool
) -> list[RunningCampaign]:
    """At most MOST_OFFERED campaigns, the preferred one first; the order changes each day (UTC).

    `all_kinds`: includes accounts and ads, which most clients cannot show.
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


class WithAudience(Protocol):
    """A running campaign, or the row of any."""

    @property
    def id(self) -> int: ...
    @property
    def audience_percent(self) -> int: ...


def is_in_audience(campaign: WithAudience, viewer_id: int) -> bool:
    """Always the same for one viewer and percentage; a higher percentage only adds viewers."""
    return _hash(viewer_id, campaign.id) * 100 < campaign.audience_percent * _HASHES


def may_see_target(campaign: RunningCampaign, viewed: ViewedPosts, now_ms: int) -> bool:
    """Whether the target exists and the viewer may see it. Private and direct posts are not shown.

    Not if a filter of the viewer hides the post at home, if the viewer mutes or blocks its account,
    or is blocked by it, nor if moderators limited that account and the viewer does not follow it.
    An account that the viewer already follows is not promoted either.
    """
    target = campaign.target
    if isinstance(target, Ad):
        return True
    account_id = campaign.account_id or 0
    relationship = viewed.relationships.get(account_id, UNRELATED)
    account = viewed.hydrated.accounts.get(account_id)
    surface = Surface.BROUGHT if isinstance(target, PostId) else Surface.PROMOTED
    if account is None or not may_show(surface, relationship, now_ms, account):
        return False
    return not isinstance(target, PostId) or _may_see_post(target, viewed)


def _may_see_post(post_id: PostId, viewed: ViewedPosts) -> bool:
    """A client that knows no promotions takes them for posts of home: so do filters."""
    if not viewed.hydrated.has_both(post_id, post_id):
        return False
    fragment = viewed.hydrated.fragments[post_id]
    return is_open(fragment) and not viewed.filters.hide_at_home(fragment, [post_id.public])


def _hash(*numbers: int) -> int:
    return int.from_bytes(blake2b(repr(numbers).encode(), digest_size=4).digest())
