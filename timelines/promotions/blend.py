"""Promotions between the entries of a home page, which stays what it is: entries and cursors."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import structlog
from cachebox import TTLCache
from redis.exceptions import RedisError

from infra.api.pages import Page, Window
from infra.changes.errors import UNREACHABLE
from infra.clock import now_ms
from posts.api.present import status_id_of
from posts.ids import PostId
from timelines.promotions.audience import choose_offered
from timelines.promotions.hydrate import HydratedPromotions, place_and_hydrate
from timelines.promotions.metrics import PROMOTIONS
from timelines.promotions.places import id_below
from timelines.promotions.present import present_promotion
from timelines.promotions.rules import may_show
from timelines.promotions.running import running
from timelines.promotions.slotting import PagingSession
from timelines.promotions.types import Offer, PlacedPromotion, RunningCampaign

# What the rules refuse a viewer is not offered again so soon: others get its place.
REFUSED_S, MOST_REFUSED = 60, 100_000
log = structlog.get_logger()
_refused: TTLCache[tuple[int, int], bool] = TTLCache(MOST_REFUSED, REFUSED_S)


class HomePageRequest(NamedTuple):
    """Who reads which part of the home timeline, and whether the client knows all kinds."""

    viewer_id: int
    window: Window
    all_kinds: bool


def blend_promotions(
    reading: HomePageRequest, page: Page[bytes], clock_ms: Callable[[], int] = now_ms
) -> Page[bytes]:
    """The page with promotions between its entries; its cursors are what they were.

    Without Redis, or while the shard of what is promoted is away, the page as it is. Cost: 0.3 µs
    while no campaign runs, else one round trip; no SQL when what is promoted is warm.
    """
    campaigns = running.campaigns()
    if not campaigns or len(page.items) < 2:
        return page
    at_ms = clock_ms()
    chosen = choose_offered(campaigns, reading.viewer_id, at_ms / 1000, reading.all_kinds)
    offered = [one for one in chosen if _may_offer(one, reading.viewer_id, page)]
    return _blend(reading, page, offered, at_ms) if offered else page


def forget_promotions() -> None:
    """Ends the process's part in it; the next page begins again."""
    running.stop()
    running.reset()
    _refused.clear()


def _may_offer(campaign: RunningCampaign, viewer_id: int, page: Page[bytes]) -> bool:
    """Not what the rules have just refused, nor what stands on the page by itself."""
    if (viewer_id, campaign.id) in _refused:
        return False
    if not isinstance(campaign.target, PostId):
        return True
    mark = b'"id":"%b"' % campaign.target.public.encode()
    return not any(mark in body for body in page.items)


def _blend(
    reading: HomePageRequest, page: Page[bytes], offered: Sequence[RunningCampaign], at_ms: int
) -> Page[bytes]:
    ids = list(map(status_id_of, page.items))
    walk = PagingSession(reading.viewer_id, reading.window, page, ids)
    offers = [Offer(campaign, running.budget.take(campaign)) for campaign in offered]
    unused = {offer.campaign.id: offer.campaign for offer in offers if offer.is_fresh}
    try:
        found = place_and_hydrate(walk, offers, at_ms / 1000)
        shown = _sift(found, offered, reading.viewer_id, at_ms)
        walk.undo(set(found.spots) - {spot for spot, _ in shown}, at_ms / 1000)
        for spot, campaign in shown:
            if spot.is_new:
                running.budget.use(unused.pop(campaign.id))
        return Page(_insert(page.items, ids, shown, found), page.older, page.newer)
    except (*UNREACHABLE, RedisError) as error:
        log.warning("promotions.left_out", error=str(error))
        return page
    finally:
        for campaign in unused.values():
            running.budget.put_back(campaign)


def _sift(
    found: HydratedPromotions, offered: Sequence[RunningCampaign], viewer_id: int, at_ms: int
) -> list[tuple[PlacedPromotion, RunningCampaign]]:
    """What of the placed may be shown; what may not is not offered again for a while."""
    campaigns, shown = {campaign.id: campaign for campaign in offered}, []
    for spot in found.spots:
        campaign = campaigns[spot.campaign_id]
        if may_show(campaign, found.view, at_ms):
            shown.append((spot, campaign))
            PROMOTIONS.labels(campaign.kind, "new" if spot.is_new else "again").inc()
        else:
            _refused[viewer_id, campaign.id] = True
            PROMOTIONS.labels(campaign.kind, "refused").inc()
    return shown


def _insert(
    items: Sequence[bytes],
    ids: Sequence[str],
    shown: Sequence[tuple[PlacedPromotion, RunningCampaign]],
    found: HydratedPromotions,
) -> list[bytes]:
    blended = list(items)
    for spot, campaign in reversed(shown):
        place = id_below(ids[spot.above - 1])
        blended.insert(spot.above, present_promotion(campaign, place, found.view))
    return blended
