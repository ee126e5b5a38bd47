"""Running campaigns, home pages to blend them into, and where promotions are."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from infra.api.pages import Page, Window
from posts.ids import LAST, PostId
from timelines.promotions.blend import HomePageRequest, blend_promotions
from timelines.promotions.campaigns import running_campaigns
from timelines.promotions.models import Campaign

DAY = timedelta(days=1)
AD = {"kind": "ad", "ad_title": "Tea", "ad_text": "Hot tea", "ad_url": "https://tea.example/"}


def run_campaign(**fields: Any) -> int:
    """Creates a campaign, an ad unless a target is given; this process knows it at once."""
    now = datetime.now(UTC)
    target = _target(fields)
    defaults = {"slot": 1, "every": 3, "daily_cap": 100, "starts_at": now - DAY}
    defaults |= {"ends_at": now + DAY, "name": f"campaign {Campaign.objects.count()}"}
    campaign = Campaign.objects.create(**defaults | target | fields)
    refresh()
    return int(campaign.pk)


def refresh() -> None:
    running_campaigns.refresh(datetime.now(UTC))


def _target(fields: dict[str, Any]) -> dict[str, Any]:
    if "post_id" in fields:
        return {"kind": "post"}
    return {"kind": "account"} if "account_id" in fields else dict(AD)


def organic(count: int) -> list[PostId]:
    """Ids of entries, newest first; several share a second, some leave no room between them."""
    return sorted((PostId(9_000 - n // 3, 5 + n % 2, n % 3) for n in range(count)), reverse=True)


def page_of(ids: list[PostId], window: Window) -> Page[bytes]:
    """A page of a list, as home_page returns it."""
    if window.min_id is not None:
        above = [i for i in ids if i > PostId.from_cursor(window.min_id)][-window.limit :]
        return _page(above, has_older=True)
    end = PostId.from_cursor(window.max_id) if window.max_id else LAST
    below = [i for i in ids if i < end]
    return _page(below[: window.limit], has_older=len(below) > window.limit)


def _page(ids: list[PostId], has_older: bool) -> Page[bytes]:
    public = [post_id.public for post_id in ids]
    bodies = [b'{"id":"%b","text":"x"}' % i.encode() for i in public]
    return Page(bodies, public[-1] if has_older and ids else None, public[0] if ids else None)


def blend(viewer_id: int, ids: list[PostId], window: Window) -> Page[bytes]:
    return blend_promotions(
        HomePageRequest(viewer_id, window, all_kinds=True), page_of(ids, window)
    )


def campaigns_of(page: Page[bytes]) -> list[str]:
    """The campaign of each item, '' for an entry."""
    return [orjson.loads(body).get("campaign", "") for body in page.items]


def places(page: Page[bytes]) -> dict[int, str]:
    """Campaigns by their place on a page."""
    return {n: campaign for n, campaign in enumerate(campaigns_of(page)) if campaign}
