"""Posts with everything that is shown with them, in one round trip when warm."""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from accounts.queries.cards import complete_cards, plan_cards
from infra.caching.client import Command, redis
from posts.api.present import NO_COUNTS, present_repost, present_status
from posts.cache import Fragments, complete_reading, plan_reading
from posts.count_cache import complete_counts, plan_counts
from posts.ids import PostId
from posts.known import Position, known_posts


class Hydrated(NamedTuple):
    """What is shown of posts, as it is now.

    `fragments`: posts that exist. `accounts`: JSON by author. `counts`: JSON by post.
    `extra`: the caller's replies.
    """

    fragments: Fragments
    accounts: Mapping[int, bytes]
    counts: Mapping[PostId, bytes]
    extra: Sequence[Any] | None

    def shows(self, event: PostId, original: PostId) -> bool:
        """Whether both exist, and who made them."""
        return (
            event in self.fragments
            and original in self.fragments
            and event.author_id in self.accounts
            and original.author_id in self.accounts
        )

    def present(self, event: PostId, original: PostId, flags: int = 0) -> bytes:
        """The Status entity of a post, or of a repost around what it shows, once `shows` says so.

        `flags`: what the viewer did with the original.
        """
        fragment, account = self.fragments[original], self.accounts[original.author_id]
        counts = self.counts.get(original, NO_COUNTS)
        status = present_status(fragment, account, counts, flags)
        if event is original or event == original:
            return status
        by = self.accounts[event.author_id]
        return present_repost(self.fragments[event], by, status, counts, flags)


def hydrate(
    ids: Sequence[PostId],
    extra: Sequence[Command] = (),
    position: Position | None = None,
    reposts: Sequence[PostId] = (),
) -> Hydrated:
    """Loads posts, authors and counts; `extra` commands ride along (replies None without Redis).

    `reposts`: the reposts that show some of the posts; they have no counts of their own.
    `position`: where the log of what is gone stood (posts/known.py) in this request; without it
    process memory is not used. Cost: one round trip and no SQL when warm, no round trip when all is
    in process memory; what is missing comes from its shard, once.
    """
    wanted = [*ids, *reposts]
    known = known_posts.find(wanted, position)
    posts = plan_reading((i for i in wanted if i not in known), time.time())
    cards = plan_cards({post_id.author_id for post_id in wanted})
    counts = plan_counts(list(dict.fromkeys(ids)))
    parts = [posts.commands(), cards.commands(), counts.commands(), list(extra)]
    replies, is_away = _ask([command for part in parts for command in part])
    post_replies, card_replies, count_replies, extra_replies = _split(replies, parts)
    loaded = complete_reading(posts, post_replies)
    known_posts.keep(loaded, position)
    fragments = known | loaded
    return Hydrated(
        fragments,
        complete_cards(cards, card_replies),
        complete_counts(counts, count_replies, fragments),
        None if is_away else extra_replies,
    )


def _split(replies: Sequence[Any], parts: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """The replies to each part."""
    left = iter(replies)
    return (list(islice(left, len(part))) for part in parts)


def _ask(commands: Sequence[Command]) -> tuple[Sequence[Any], bool]:
    try:
        return redis().run(commands), False
    except RedisError:
        return [None] * len(commands), True
