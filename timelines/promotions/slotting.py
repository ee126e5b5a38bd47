"""What a reader has had where, in Redis; the script that decides where promotions stand.

    timelines.promotions.day:v1:{reader}:<day>        hash; p<entry above> → campaign,
                                                      c<campaign> → impressions of the day (UTC)
    timelines.promotions.session:v1:{reader}:<cursor>    entries since the last promotion above it

All of it is disposable: after a flush a reader's daily caps begin anew, and the first promotion of
a page in the middle of a walk stands further down.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from redis.exceptions import RedisError

from infra.api.pages import Page, Window
from infra.caching.client import Command, load_script, redis
from infra.caching.keys import key
from timelines.promotions.audience import DAY_S
from timelines.promotions.places import list_anchors
from timelines.promotions.types import Offer, PlacedPromotion

SLOTTING = load_script(Path(__file__).with_name("lua") / "place.lua")
DAY, SESSION = "timelines.promotions.day:v1", "timelines.promotions.session:v1"
SESSION_S = 1_800
# Nothing was promoted above the top of the list.
TOP = 1_000_000


class PagingSession:
    """One page of a reader's way down. `ids`: of its entries, newest first."""

    def __init__(self, reader_id: int, window: Window, page: Page[bytes], ids: list[str]) -> None:
        self.reader_id, self.ids = reader_id, ids
        self.is_down = window.min_id is None
        self.above = window.max_id if self.is_down else None
        self.older = page.older

    def slotting_command(self, offers: Sequence[Offer], now_s: float) -> Command:
        """Reply for `parse_placed`. Counts what it places."""
        day, goes_on = int(now_s) // DAY_S, self.is_down and self.older is not None
        keys = [
            key(DAY, self.reader_id, day),
            key(SESSION, self.reader_id, self.above or ""),
            key(SESSION, self.reader_id, self.older or ""),
        ]
        campaigns = [argument for offer in offers for argument in _arguments(offer)]
        since = TOP if self.is_down and self.above is None else ""
        options = (since, DAY_S, SESSION_S, int(goes_on), len(offers))
        return SLOTTING.on(keys, *options, *campaigns, *list_anchors(self.ids))

    def undo(self, spots: Iterable[PlacedPromotion], now_s: float) -> None:
        """What was placed and is not shown: else it would be shown later without being counted.

        Cost: one round trip when there is any. Without Redis nothing is undone.
        """
        day = key(DAY, self.reader_id, int(now_s) // DAY_S)
        commands = [
            command
            for above, campaign_id, is_new in spots
            if is_new
            for command in (
                ("HDEL", day, f"p{self.ids[above - 1]}"),
                ("HINCRBY", day, f"c{campaign_id}", -1),
            )
        ]
        with suppress(RedisError):
            redis().run(commands)


def parse_placed(reply: Sequence[int]) -> list[PlacedPromotion]:
    """The promotions of a page, from the top down."""
    found = zip(reply[::3], reply[1::3], reply[2::3], strict=True)
    return [PlacedPromotion(above, campaign, bool(new)) for above, campaign, new in found]


def _arguments(offer: Offer) -> tuple[int, ...]:
    campaign, is_fresh = offer
    return campaign.id, campaign.slot, campaign.every, campaign.daily_cap, int(is_fresh)
