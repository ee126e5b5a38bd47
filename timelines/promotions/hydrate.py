"""Places promotions and loads their targets as the viewer may see them: one round trip for all."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from accounts.queries.load import ask_accounts
from infra.caching.questions import RoundTrip
from infra.changes.errors import UNREACHABLE
from posts.cache.viewer_state import ask_viewer_state, load_flags
from posts.ids import PostId
from posts.reading.hydrate import ask_posts
from posts.reading.viewing import ViewedPosts
from relations.queries.relationships import ask_relationships
from timelines.promotions.cache import ask_hidden
from timelines.promotions.slotting import PagingSession
from timelines.promotions.types import Offer, PlacedPromotion


class HydratedPromotions(NamedTuple):
    """The promotions of a page, their targets as the viewer may see them, and what the viewer
    hides."""

    placed: Sequence[PlacedPromotion]
    viewed: ViewedPosts
    hidden: Set[int] = frozenset()


class _PromotedTargets:
    """Questions about the promoted targets."""

    def __init__(
        self,
        trip: RoundTrip,
        viewer_id: int,
        ids: Sequence[PostId],
        account_ids: Sequence[int],
    ) -> None:
        self._viewer_id, self._ids = viewer_id, ids
        self._state = trip.ask(ask_viewer_state(viewer_id))
        self._posts = trip.ask(ask_posts(ids))
        self._accounts = trip.ask(ask_accounts(account_ids))
        self._relationships = trip.ask(ask_relationships(viewer_id, account_ids))

    def load(self) -> ViewedPosts:
        """From the answers; the shards give what Redis lacks."""
        hydrated = self._posts.value._replace(accounts=self._accounts.value)
        state = self._state.value
        flags = load_flags(self._viewer_id, state, hydrated.fragments, hydrated.fragments)
        relationships = self._relationships.value.by_account
        return ViewedPosts(hydrated, flags, relationships, self._viewer_id, state.filters)


def place_and_hydrate(
    session: PagingSession, offers: Sequence[Offer], now_s: float
) -> HydratedPromotions:
    """Places the offered promotions on the page and loads their targets.

    Raises: RedisError, and what a shard raises that is away; then nothing stays placed. Cost: one
    round trip; no SQL if Redis has the targets.
    """
    viewer_id, campaigns = session.reader_id, [offer.campaign for offer in offers]
    ids = [campaign.target for campaign in campaigns if isinstance(campaign.target, PostId)]
    account_ids = list(
        {campaign.account_id for campaign in campaigns if campaign.account_id is not None}
    )
    trip = RoundTrip()
    targets = _PromotedTargets(trip, viewer_id, ids, account_ids)
    hidden = trip.ask(ask_hidden(viewer_id))
    slots = trip.ask(session.ask_slots(offers, now_s))
    trip.run()
    if trip.error is not None:
        raise trip.error
    placed = slots.value
    try:
        return HydratedPromotions(placed, targets.load(), hidden.value)
    except UNREACHABLE:
        session.undo(placed, now_s)
        raise
