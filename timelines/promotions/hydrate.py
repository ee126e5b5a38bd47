"""What is promoted, as the viewer may see it, and where it stands: one round trip for all."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from accounts.queries.in_process import AccountReading, complete_accounts, plan_accounts
from infra.caching.client import Command, redis
from infra.changes.errors import UNREACHABLE
from posts.cache.counts import CountReadPlan, complete_counts, plan_counts
from posts.cache.viewer_state import complete_viewer_state, find_flags, viewer_state_command
from posts.cache.weeks import PostReadPlan, complete_posts, plan_posts
from posts.ids import PostId
from posts.queries.hydrate import Hydrated
from posts.queries.statuses import ViewedPosts
from relations.queries.relationships import ask_command, complete_relationships
from timelines.promotions.slotting import PagingSession, parse_placed
from timelines.promotions.types import Offer, PlacedPromotion


class HydratedPromotions(NamedTuple):
    """The promotions of a page, and what decides whether, and how, they are shown."""

    spots: Sequence[PlacedPromotion]
    view: ViewedPosts


class PromotionReading(NamedTuple):
    """What is asked of each cache about what is promoted."""

    viewer_id: int
    ids: Sequence[PostId]
    people: Sequence[int]
    posts: PostReadPlan
    cards: AccountReading
    counts: CountReadPlan

    def _parts(self) -> list[list[Command]]:
        own = viewer_state_command(self.viewer_id)
        relationships = [ask_command(self.viewer_id, self.people)] if self.people else []
        caches = (self.posts, self.cards, self.counts)
        return [*(reading.commands() for reading in caches), [own], relationships]

    def commands(self) -> list[Command]:
        """Replies for `complete`."""
        return [command for part in self._parts() for command in part]

    def complete(self, replies: Sequence[Any]) -> ViewedPosts:
        """From the replies; what Redis lacks comes from the shards."""
        left = iter(replies)
        posts, cards, counts, (own,), pairs = (
            list(islice(left, len(part))) for part in self._parts()
        )
        fragments = complete_posts(self.posts, posts)
        totals = complete_counts(self.counts, counts, fragments)
        hydrated = Hydrated(fragments, complete_accounts(self.cards, cards), totals, None)
        marks = complete_viewer_state(self.viewer_id, own)
        flags = find_flags(self.viewer_id, marks, self.ids)
        people = self.people
        known = (
            complete_relationships(self.viewer_id, people, pairs[0]).by_account if people else {}
        )
        return ViewedPosts(hydrated, flags, known)


def place_and_hydrate(
    walk: PagingSession, offers: Sequence[Offer], now_s: float
) -> HydratedPromotions:
    """Cost: one round trip; no SQL when what is promoted is warm. Raises: RedisError, and what a
    shard raises that is away; then nothing stays placed."""
    viewer_id, campaigns = walk.reader_id, [offer.campaign for offer in offers]
    ids = [one.target for one in campaigns if isinstance(one.target, PostId)]
    people = list({one.account_id for one in campaigns if one.account_id is not None})
    look = PromotionReading(
        viewer_id, ids, people, plan_posts(ids, now_s), plan_accounts(people), plan_counts(ids)
    )
    *replies, placed = redis().run([*look.commands(), walk.slotting_command(offers, now_s)])
    spots = parse_placed(placed)
    try:
        return HydratedPromotions(spots, look.complete(replies))
    except UNREACHABLE:
        walk.undo(spots, now_s)
        raise
