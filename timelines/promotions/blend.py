"""Puts promotions between the entries of a home page. Entries and cursors stay as they are."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import structlog
from cachebox import TTLCache
from prometheus_client import Counter
from redis.exceptions import RedisError

from infra.api.pages import Page, Window
from infra.changes.errors import UNREACHABLE
from infra.clock import now_ms
from infra.shared_thread import need_own_thread
from posts.fragments.read import post_id_of
from posts.ids import PostId
from timelines.promotions.campaigns import running_campaigns
from timelines.promotions.hydrate import HydratedPromotions, place_and_hydrate
from timelines.promotions.present import present_promotion
from timelines.promotions.rules import MOST_OFFERED, choose_offered, may_see_target
from timelines.promotions.slotting import PagingSession, id_below
from timelines.promotions.types import Offer, PlacedPromotion, RunningCampaign

# A campaign that the rules refused for a viewer is not offered to that viewer for a while, so that
# others get its slot.
REFUSED_S, MOST_REFUSED = 60, 100_000
PROMOTIONS = Counter(
    "tideline_promotions_total",
    "Promotions placed, shown again, refused",
    ["kind", "outcome"],
)
log = structlog.get_logger()
_refused: TTLCache[tuple[int, int], bool] = TTLCache(MOST_REFUSED, REFUSED_S)


class HomePageRequest(NamedTuple):
    """The viewer, the requested part of the home timeline, and if the client shows all kinds."""

    viewer_id: int
    window: Window
    all_kinds: bool


def blend_promotions(
    request: HomePageRequest, page: Page[bytes], clock_ms: Callable[[], int] = now_ms
) -> Page[bytes]:
    """The page with promotions between its entries, and at most `limit` items.

    The entries whose place they take begin the next older page.
    Without Redis, or if the shard of a target is away, the page is returned as it is. Cost: nothing
    while no campaign runs, else one round trip; no SQL if Redis has the targets.
    """
    campaigns = running_campaigns.campaigns()
    if not campaigns or len(page.items) < 2:
        return page
    at_ms = clock_ms()
    chosen = choose_offered(campaigns, request.viewer_id, at_ms / 1000, request.all_kinds)
    offered = [promotion for promotion in chosen if _may_offer(promotion, request.viewer_id, page)]
    return _blend(request, page, offered, at_ms) if offered else page


def most_replaced() -> int:
    """The most entries of a page whose place promotions may take now."""
    return min(MOST_OFFERED, len(running_campaigns.campaigns()))


def forget_promotions() -> None:
    """Stops the thread and forgets all campaigns; the next page starts again."""
    running_campaigns.stop()
    running_campaigns.reset()
    _refused.clear()


def _may_offer(campaign: RunningCampaign, viewer_id: int, page: Page[bytes]) -> bool:
    """Not if the rules have just refused it, nor if the page has its post anyway."""
    if (viewer_id, campaign.id) in _refused:
        return False
    if not isinstance(campaign.target, PostId):
        return True
    post_id = b'"id":"%b"' % campaign.target.public.encode()
    return not any(post_id in body for body in page.items)


def _blend(
    request: HomePageRequest, page: Page[bytes], offered: Sequence[RunningCampaign], at_ms: int
) -> Page[bytes]:
    need_own_thread()  # it counts impressions: once for each page
    ids = [post_id_of(body) for body in page.items]
    session = PagingSession(request.viewer_id, request.window, page, ids)
    budget = running_campaigns.budget
    offers = [Offer(campaign, budget.take(campaign)) for campaign in offered]
    unused = {offer.campaign.id: offer.campaign for offer in offers if offer.is_fresh}
    try:
        promotions = place_and_hydrate(session, offers, at_ms / 1000)
        shown = _sift(promotions, offered, request.viewer_id, at_ms)
        session.undo(set(promotions.placed) - {placed for placed, _ in shown}, at_ms / 1000)
        for placed, campaign in shown:
            if placed.is_new:
                budget.use(unused.pop(campaign.id))
        return _insert(request.window.limit, page, ids, shown, promotions)
    except (*UNREACHABLE, RedisError) as error:
        log.warning("promotions.left_out", error=str(error))
        return page
    finally:
        for campaign in unused.values():
            budget.put_back(campaign)


def _sift(
    promotions: HydratedPromotions,
    offered: Sequence[RunningCampaign],
    viewer_id: int,
    at_ms: int,
) -> list[tuple[PlacedPromotion, RunningCampaign]]:
    """The placed promotions that the viewer may see. The others are not offered for REFUSED_S."""
    campaigns, shown = {campaign.id: campaign for campaign in offered}, []
    for placed in promotions.placed:
        campaign = campaigns[placed.campaign_id]
        is_hidden = campaign.id in promotions.hidden
        if not is_hidden and may_see_target(campaign, promotions.viewed, at_ms):
            shown.append((placed, campaign))
            PROMOTIONS.labels(campaign.kind, "new" if placed.is_new else "again").inc()
        else:
            _refused[viewer_id, campaign.id] = True
            PROMOTIONS.labels(campaign.kind, "refused").inc()
    return shown


def _insert(
    limit: int,
    page: Page[bytes],
    ids: Sequence[PostId],
    shown: Sequence[tuple[PlacedPromotion, RunningCampaign]],
    promotions: HydratedPromotions,
) -> Page[bytes]:
    entry_count = min(len(ids), limit - len(shown))
    blended = list(page.items[:entry_count])
    for placed, campaign in reversed(shown):
        new_id = id_below(ids[placed.above - 1])
        blended.insert(placed.above, present_promotion(campaign, new_id, promotions.viewed))
    is_cut = entry_count < len(ids)
    return Page(blended, ids[entry_count - 1].public if is_cut else page.older, page.newer)
