"""Publishes a post: one statement on the author's shard."""

import time
from collections.abc import Callable
from typing import Any

from infra.caching.questions import Question
from posts.actions.check_quote import check_told
from posts.actions.insert_post import insert_post
from posts.actions.read_links import read_links
from posts.ids import PostId
from posts.types import Draft, Kind, PublishedPost, Target


def create_post(
    author_id: int,
    draft: Draft,
    idempotency_key: str | None = None,
    clock_s: Callable[[], float] = time.time,
) -> PostId:
    """Publishes a post and returns its id, as `publish_post`."""
    return publish_post(author_id, draft, idempotency_key, clock_s).post_id


def publish_post(
    author_id: int,
    draft: Draft,
    idempotency_key: str | None = None,
    clock_s: Callable[[], float] = time.time,
    asked: Question[Any] | None = None,
) -> PublishedPost:
    """Publishes a post. A repeated key returns the first post. `asked`: as for `insert_post`.

    The ids of one author strictly grow, even within a second and if the clock is set back. Raises:
    AccountNotFound, TooManyLinksToday, ImagesTaken, CannotQuote. Safety: idempotent with a key, for
    an hour. Cost: one statement on the author's shard, and one on the default database if the text
    has @names; the drain updates followers' timelines.
    """
    now_s, links = clock_s(), read_links(draft.text)
    check_told(author_id, draft, links)
    target = target_of(draft)
    return insert_post(author_id, draft, target, now_s, idempotency_key, links, asked)


def target_of(draft: Draft) -> Target | None:
    """What a draft answers; None if it is no reply."""
    parent = draft.in_reply_to
    return Target(Kind.REPLY, parent.author_id, parent.moment) if parent else None
