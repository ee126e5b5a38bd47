"""Posts with everything that is shown with them, in one round trip when warm."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from accounts.queries.cards import complete_cards, plan_cards
from infra.caching.client import Command, redis
from posts.api.present import present_status
from posts.cache import Fragments, complete_reading, plan_reading
from posts.ids import PostId
from posts.known import Position, known_posts


class Hydrated(NamedTuple):
    """`fragments`: posts that exist. `accounts`: JSON by author. `extra`: the caller's replies."""

    fragments: Fragments
    accounts: Mapping[int, bytes]
    extra: Sequence[Any] | None


def hydrate(
    ids: Sequence[PostId], extra: Sequence[Command] = (), position: Position | None = None
) -> Hydrated:
    """Loads posts, authors and counts; `extra` commands ride along (replies None without Redis).

    `position`: where the log of what is gone stood (posts/known.py) in this request; without it
    process memory is not used. Cost: one round trip and no SQL when warm, no round trip when all is
    in process memory; what is missing comes from its shard, once.
    """
    known = known_posts.find(ids, position)
    posts = plan_reading((i for i in ids if i not in known), time.time())
    cards = plan_cards({post_id.author_id for post_id in ids})
    post_commands, card_commands = posts.commands(), cards.commands()
    replies, is_away = _ask([*post_commands, *card_commands, *extra])
    after_posts, after_cards = len(post_commands), len(post_commands) + len(card_commands)
    loaded = complete_reading(posts, replies[:after_posts])
    known_posts.keep(loaded, position)
    return Hydrated(
        known | loaded,
        complete_cards(cards, replies[after_posts:after_cards]),
        None if is_away else replies[after_cards:],
    )


def _ask(commands: Sequence[Command]) -> tuple[Sequence[Any], bool]:
    try:
        return redis().run(commands), False
    except RedisError:
        return [None] * len(commands), True


def load_status_json(ids: Iterable[PostId]) -> dict[PostId, bytes]:
    """Status entities of the posts that exist. Cost: as hydrate."""
    wanted = list(ids)
    hydrated = hydrate(wanted)
    return {
        post_id: present_status(hydrated.fragments[post_id], hydrated.accounts[post_id.author_id])
        for post_id in wanted
        if post_id in hydrated.fragments and post_id.author_id in hydrated.accounts
    }
