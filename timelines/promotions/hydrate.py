"""Places promotions and loads their targets as the viewer may see them: one round trip for all."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from accounts.queries.in_process import (
    AccountReadPlan,
    complete_accounts,
    plan_accounts_from_redis,
)
from infra.caching.client import Command, redis
from infra.caching.replies import split_replies
from infra.caching.viewer_validators import read_validators, validator_commands
from infra.changes.errors import UNREACHABLE
from posts.cache.counts import CountReadPlan, complete_counts, plan_counts
from posts.cache.viewer_state import (
    ViewerStateRead,
    complete_viewer_state,
    load_flags,
    plan_viewer_state,
)
from posts.cache.weeks import PostReadPlan, complete_posts, plan_posts
from posts.ids import PostId
from posts.queries.hydrate import Hydrated
from posts.queries.statuses import ViewedPosts
from relations.queries.relationships import ask_command, complete_relationships
from timelines.promotions.slotting import PagingSession, parse_placed
from timelines.promotions.types import Offer, PlacedPromotion


class HydratedPromotions(NamedTuple):
    """The promotions of a page, and their targets as the viewer may see them."""

    placed: Sequence[PlacedPromotion]
    viewed: ViewedPosts


class PromotionReadPlan(NamedTuple):
    """What to read from each cache about the promoted targets."""

    viewer_id: int
    ids: Sequence[PostId]
    account_ids: Sequence[int]
    posts: PostReadPlan
    accounts: AccountReadPlan
    counts: CountReadPlan
    state: ViewerStateRead

    def _parts(self) -> list[list[Command]]:
        ids = self.account_ids
        validators = validator_commands(self.viewer_id, self.state.create)
        relationships = [ask_command(self.viewer_id, ids)] if ids else []
        caches = (self.posts, self.accounts, self.counts, self.state)
        return [validators, *(plan.commands() for plan in caches), relationships]

    def commands(self) -> list[Command]:
        """Replies for `complete`."""
        return [command for part in self._parts() for command in part]

    def complete(self, replies: Sequence[Any]) -> ViewedPosts:
        """From the replies; loads from the shards what Redis lacks."""
        parts = self._parts()
        validators, posts, accounts, counts, state, relationships = split_replies(replies, parts)
        fragments = complete_posts(self.posts, posts)
        totals = complete_counts(self.counts, counts, fragments)
        shown = complete_accounts(self.accounts, accounts)
        has_copies = bool(self.accounts.known or self.counts.in_memory)
        hydrated = Hydrated(fragments, shown, totals, None, has_copies)
        viewer_state = complete_viewer_state(self.state, read_validators(validators), state)
        flags = load_flags(self.viewer_id, viewer_state, self.ids)
        ids = self.account_ids
        if not ids:
            return ViewedPosts(hydrated, flags, {})
        known = complete_relationships(self.viewer_id, ids, relationships[0])
        return ViewedPosts(hydrated, flags, known.by_account)


def place_and_hydrate(
    session: PagingSession, offers: Sequence[Offer], now_s: float
) -> HydratedPromotions:
    """Places the offered promotions on the page and loads their targets.

    Raises: RedisError, and what a shard raises that is away; then nothing stays placed. Cost: one
    round trip; no SQL if Redis has the targets.
    """
    viewer_id, campaigns = session.reader_id, [offer.campaign for offer in offers]
    ids = [one.target for one in campaigns if isinstance(one.target, PostId)]
    account_ids = list({one.account_id for one in campaigns if one.account_id is not None})
    # Not from process memory: this round trip does not read the invalidation log.
    accounts = plan_accounts_from_redis(account_ids)
    plans = plan_posts(ids, now_s), accounts, plan_counts(ids)
    state = plan_viewer_state(viewer_id)
    plan = PromotionReadPlan(viewer_id, ids, account_ids, *plans, state)
    *replies, reply = redis().run([*plan.commands(), session.slotting_command(offers, now_s)])
    placed = parse_placed(reply)
    try:
        return HydratedPromotions(placed, plan.complete(replies))
    except UNREACHABLE:
        session.undo(placed, now_s)
        raise
