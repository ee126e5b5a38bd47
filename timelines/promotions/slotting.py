"""Decides where promotions are on a page, and remembers it in Redis (slot_promotions.lua).

    timelines.promotions.day:v1:{reader}:<day>        hash; p<entry above> → campaign,
                                                      c<campaign> → impressions of the day (UTC)
    timelines.promotions.session:v1:{reader}:<cursor> entries since the last promotion above it

Entries and cursors are ids in base36.

A promotion is never first or last on a page, and its id is the one right below the entry above it.
So a client that uses this id as a cursor, or sorts by ids, reads the same entries as without the
promotion. A full page has entries less for its promotions: the next older page begins with them. A
poll by `min_id`, or one that has all new entries, has promotions only in the room that these leave,
because a later poll does not bring an entry again.

All keys are disposable. After a flush the daily caps start again, and the first promotion of the
next page of a paging session comes later.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from redis.exceptions import RedisError

from infra.api.pages import Page, Window
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from infra.caching.scripts import load_script
from posts.ids import PostId
from timelines.promotions.rules import DAY_S
from timelines.promotions.types import Offer, PlacedPromotion

SLOT_PROMOTIONS = load_script(Path(__file__).with_name("lua") / "slot_promotions.lua")
DAY, SESSION = "timelines.promotions.day:v1", "timelines.promotions.session:v1"
SESSION_S = 1_800
# More than any campaign's `every`: no promotion is above the top of the timeline.
TOP = 1_000_000
NO_ROOM = ""


class PagingSession:
    """One page of a reader who pages through the home timeline.

    `ids`: of the page's entries, newest first.
    """

    def __init__(
        self, reader_id: int, window: Window, page: Page[bytes], ids: Sequence[PostId]
    ) -> None:
        self.reader_id, self.ids = reader_id, ids
        self._most, self.is_down = window.limit, window.min_id is None
        self.above = _base36(window.max_id) if self.is_down and window.max_id else None
        self.older = _base36(page.older) if page.older else None
        self._may_cut = self.is_down and (window.since_id is None or self.older is not None)

    def ask_slots(self, offers: Sequence[Offer], now_s: float) -> Question[list[PlacedPromotion]]:
        """Places the offered promotions and counts impressions. The answer is in page order."""
        day, continues = int(now_s) // DAY_S, self.is_down and self.older is not None
        keys = [
            key(DAY, self.reader_id, day),
            key(SESSION, self.reader_id, self.above or ""),
            *(key(SESSION, self.reader_id, end) for end in self._list_ends(len(offers))),
        ]
        campaigns = [argument for offer in offers for argument in _arguments(offer)]
        since = TOP if self.is_down and self.above is None else ""
        options = (since, DAY_S, SESSION_S, int(continues), int(self._may_cut), self._most)
        command = SLOT_PROMOTIONS.on(
            keys, *options, len(offers), *campaigns, *list_anchors(self.ids)
        )
        return Question([command], _decode)

    def _list_ends(self, most: int) -> list[str]:
        """Where the page ends if promotions take the place of 0, 1 … `most` entries."""
        shorter = [post_id.base36 for post_id in self.ids[-2 : -2 - most : -1]]
        return [self.older or "", *shorter]

    def undo(self, placed: Iterable[PlacedPromotion], now_s: float) -> None:
        """Forgets new promotions that are not shown; a later page would not count them.

        Cost: one round trip if there are any. Without Redis it does nothing.
        """
        day = key(DAY, self.reader_id, int(now_s) // DAY_S)
        commands = [
            command
            for above, campaign_id, is_new in placed
            if is_new
            for command in (
                ("HDEL", day, f"p{self.ids[above - 1].base36}"),
                ("HINCRBY", day, f"c{campaign_id}", -1),
            )
        ]
        with suppress(RedisError):
            redis().run(commands)


def _decode(replies: Replies) -> list[PlacedPromotion]:
    """The promotions of a page, from the top down."""
    reply = replies[0] if replies else ()
    triples = zip(reply[::3], reply[1::3], reply[2::3], strict=True)
    return [PlacedPromotion(above, campaign, bool(new)) for above, campaign, new in triples]


def list_anchors(ids: Sequence[PostId]) -> list[str]:
    """For each gap between entries the base36 id of the entry above it, or NO_ROOM. Pure.

    `ids`: of the page's entries, newest first. The result has one item less.
    """
    return [above.base36 if _has_room(above, below) else NO_ROOM for above, below in pairwise(ids)]


def id_below(above: PostId) -> PostId:
    """The greatest id below this one. It has the same second, because no author has the id 0."""
    return PostId.from_number(above.number - 1)


def _has_room(above: PostId, below: PostId) -> bool:
    """Whether an id exists between the two."""
    return above.number - below.number > 1


def _base36(cursor: str) -> str:
    """One text for each cursor: clients may send both forms."""
    return PostId.from_cursor(cursor).base36


def _arguments(offer: Offer) -> tuple[int, ...]:
    campaign, is_fresh = offer
    return campaign.id, campaign.slot, campaign.every, campaign.daily_cap, int(is_fresh)
