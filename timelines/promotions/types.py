"""Values of promotions: what runs, where it may stand, where it stands."""

from enum import StrEnum
from typing import NamedTuple

from posts.ids import PostId


class CampaignKind(StrEnum):
    POST = "post"
    ACCOUNT = "account"
    AD = "ad"


class Ad(NamedTuple):
    title: str
    text: str
    url: str


class RunningCampaign(NamedTuple):
    """A campaign as pages know it. `target`: what is promoted. Times are Unix seconds.

    `slot`: so many entries at least stand above it on a page. `every`: so many at least since the
    promotion above. `allotment`: impressions that a process may take; None: there is no total cap.
    """

    id: int
    kind: CampaignKind
    target: PostId | Ad | int
    slot: int
    every: int
    daily_cap: int
    audience_percent: int
    starts_at_s: float
    ends_at_s: float
    allotment: int | None

    @property
    def account_id(self) -> int | None:
        """Who is promoted; None: nobody here."""
        if isinstance(self.target, PostId):
            return self.target.author_id
        return None if isinstance(self.target, Ad) else self.target


class Offer(NamedTuple):
    """A campaign that may stand on a page. `is_fresh`: also where it has not stood before."""

    campaign: RunningCampaign
    is_fresh: bool


class PlacedPromotion(NamedTuple):
    """A promotion below the first `above` entries of a page.

    `is_new`: an impression; else the same reader has had it in this place before.
    """

    above: int
    campaign_id: int
    is_new: bool
