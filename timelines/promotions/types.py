"""Values of promotions: which campaigns run, and where promotions are on a page."""

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
    """A campaign as pages use it. `target`: a post, an ad or an account id. Times: Unix seconds.

    `slot`: at least so many entries are above its promotion on a page. `every`: at least so many
    entries are between it and the promotion above. `grant`: how many impressions a process may
    take at a time; None: the campaign has no total cap.
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
    grant: int | None

    @property
    def account_id(self) -> int | None:
        """The promoted account, or the author of the promoted post; None for an ad."""
        if isinstance(self.target, PostId):
            return self.target.author_id
        return None if isinstance(self.target, Ad) else self.target


class Offer(NamedTuple):
    """A campaign that may be on this page.

    `is_fresh`: the budget allows a new impression. Otherwise the promotion is only shown again
    where the reader has already seen it.
    """

    campaign: RunningCampaign
    is_fresh: bool


class PlacedPromotion(NamedTuple):
    """A promotion below the first `above` entries of a page.

    `is_new`: an impression. Otherwise the reader has already seen the promotion here.
    """

    above: int
    campaign_id: int
    is_new: bool
