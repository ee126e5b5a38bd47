"""What is promoted, as the viewer may see it, and where it stands: one round trip for all."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from accounts.queries.cards import complete_cards, plan_cards
from infra.caching.client import redis
from posts.cache import complete_reading, plan_reading
from posts.count_cache import complete_counts, plan_counts
from posts.ids import PostId
from posts.own_marks import complete_own_marks, find_flags, own_marks_command
from posts.queries.hydrate import Hydrated
from posts.queries.statuses import View
from relations.queries.standings import ask_command, complete_standings
from timelines.promotions.placing import Walk, spots_of
from timelines.promotions.types import Offer, Spot


class Found(NamedTuple):
    """The promotions of a page, and what decides whether, and how, they are shown."""

    spots: Sequence[Spot]
    view: View


def place_and_look(walk: Walk, offers: Sequence[Offer], now_s: float) -> Found:
    """Cost: one round trip; no SQL when what is promoted is warm. Raises: RedisError, and what a
    shard raises that is away."""
    viewer_id, campaigns = walk.reader_id, [offer.campaign for offer in offers]
    ids = [one.target for one in campaigns if isinstance(one.target, PostId)]
    people = list({one.account_id for one in campaigns if one.account_id is not None})
    posts, cards, counts = plan_reading(ids, now_s), plan_cards(people), plan_counts(ids)
    asked = [own_marks_command(viewer_id), *([ask_command(viewer_id, people)] if people else [])]
    parts = [posts.commands(), cards.commands(), counts.commands(), asked]
    commands = [command for part in parts for command in part]
    *replies, placed = redis().run([*commands, walk.place_command(offers, now_s)])
    left = iter(replies)
    post_replies, card_replies, count_replies, (own, *pairs) = (
        list(islice(left, len(part))) for part in parts
    )
    fragments = complete_reading(posts, post_replies)
    hydrated = Hydrated(
        fragments,
        complete_cards(cards, card_replies),
        complete_counts(counts, count_replies, fragments),
        None,
    )
    flags = find_flags(viewer_id, complete_own_marks(viewer_id, own), ids)
    standings = complete_standings(viewer_id, people, pairs[0]).of if people else {}
    return Found(spots_of(placed), View(hydrated, flags, standings))
