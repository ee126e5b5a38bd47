"""Writes the row of a post, reply or repost with its count and change, in one round trip."""

import time
from collections.abc import Sequence
from typing import Any

import msgspec
import orjson
from django.conf import settings
from msgspec.structs import replace

from accounts.errors import AccountNotFound
from counters.sql import account_counts_sql
from infra.api.errors import TidelineError
from infra.caching.questions import Question
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one, named_call
from posts.changes import PostCreated
from posts.errors import ImagesTaken, TooManyLinksToday
from posts.ids import SEQUENCES, PostId, second_of
from posts.queries.own_responses import find_seen_responses, is_counted
from posts.types import (
    NO_LINKS,
    Draft,
    Kind,
    PostLinks,
    PostRow,
    PublishedPost,
    Target,
    WrittenPost,
)

# posts/functions.sql: lock, row, count and change in one round trip.
PARAMETERS = (
    *("author", "once_key", "earliest"),
    *("new_text", "is_sensitive", "new_spoiler_text", "new_language"),
    *("new_kind", "about_author", "about_moment", "new_visibility"),
    *("new_mentions", "new_tags", "new_media", "new_poll", "new_application"),
    *("first_author", "first_moment", "about_quoted"),
    *("new_quote_policy", "new_reply_policy", "new_post_type", "new_custom"),
    *("today", "most_mentions", "most_tags"),
    *("lane", "change", "payload"),
)
CREATE = f"""
SELECT created.*, {account_counts_sql("%s")}
FROM {named_call("posts_publish", PARAMETERS)} AS created
"""  # noqa: S608
DAY_S = 86_400


def insert_post(
    author_id: int,
    draft: Draft,
    target: Target | None,
    now_s: float,
    key: str | None = None,
    links: PostLinks = NO_LINKS,
    asked: Question[Any] | None = None,
) -> PublishedPost:
    """The new post, or the earlier one: with the same key, or the same repost.

    `asked`: shares a round trip of the write, unless the post is an earlier one.

    Raises: AccountNotFound, ImagesTaken; TooManyLinksToday above MENTIONS_PER_DAY or TAGS_PER_DAY.
    Cost: one statement, and for a response a round trip. Safety: the function (posts/functions.sql)
    locks the account, then reads and writes.
    """
    alias = shard_of(author_id)
    wanted = _row_of(author_id, draft, target, links)
    created = PostCreated(
        0,
        0,
        0,
        target,
        wanted.visibility,
        links.tags,
        tuple(mention[0] for mention in links.mentions),
        place_of(draft.thread),
        place_of(draft.quoted),
        draft.post_type,
    )
    limits = (int(now_s // DAY_S), settings.MENTIONS_PER_DAY, settings.TAGS_PER_DAY)
    change = change_columns(author_id, created)
    earliest = second_of(now_s) * SEQUENCES
    values = (author_id, author_id, key, earliest, *_columns_of(wanted), *limits, *change)
    seen = find_seen_responses(author_id, Kind(target.kind), target.post_id) if target else None
    row = fetch_one(alias, CREATE, values)
    is_known, refused, moment, _, version, change_id, at, counts = row  # type: ignore[misc]  # one row
    if not is_known:
        raise AccountNotFound
    if refused is not None:
        raise refusal_of(refused, now_s)
    post_id = PostId.at(author_id, moment)
    if change_id is None:
        finish_interrupted(alias, author_id)
        return PublishedPost(post_id, None)
    created = replace(created, moment=moment, before=version - 1, after=version)
    written = WrittenPost(wanted._replace(moment=moment), counts, time.monotonic())
    shown = None if seen is None else seen + is_counted(wanted.kind, wanted.visibility)
    announce(alias, author_id, created, AppendedChange(change_id, at, written, shown, asked))
    return PublishedPost(post_id, written)


def refusal_of(refused: str, now_s: float) -> TidelineError:
    """The error for the word that a function of the database returned."""
    if refused == "media":
        return ImagesTaken()
    return TooManyLinksToday(refused, int(DAY_S - now_s % DAY_S) + 1)


def _row_of(author_id: int, draft: Draft, target: Target | None, links: PostLinks) -> PostRow:
    """The row to write, without its moment."""
    kind, about_author, about_moment = target or (Kind.POST, None, None)
    return PostRow(
        author_id,
        0,
        draft.text,
        draft.sensitive,
        draft.spoiler_text,
        draft.language,
        kind,
        about_author,
        about_moment,
        visibility=int(draft.visibility),
        mentions=links.mentions or None,
        tags=links.tags or None,
        media=draft.media or None,
        poll=msgspec.to_builtins(draft.poll),
        application=draft.application,
        thread_author=draft.thread.author_id if draft.thread else None,
        thread_moment=draft.thread.moment if draft.thread else None,
        quoted_author=draft.quoted.author_id if draft.quoted else None,
        quoted_moment=draft.quoted.moment if draft.quoted else None,
        quote_policy=int(draft.quote_policy),
        reply_policy=int(draft.reply_policy),
        post_type=draft.post_type,
        custom=draft.custom,
    )


def place_of(post_id: PostId | None) -> tuple[int, int] | None:
    """Author and moment, as a change names a post."""
    return (post_id.author_id, post_id.moment) if post_id else None


def _columns_of(row: PostRow) -> Sequence[object]:
    """The parameters of posts_publish from `new_text` to `new_custom`."""
    json = (json_of(row.poll), json_of(row.application))
    quoted = [row.quoted_author, row.quoted_moment] if row.quoted else None
    thread = (row.thread_author, row.thread_moment)
    last = (row.quote_policy, row.reply_policy, row.post_type, row.custom)
    return (*row[2:10], *columns_of_links(row), *json, *thread, quoted, *last)


def columns_of_links(row: PostRow) -> Sequence[object]:
    """The parameters `new_mentions`, `new_tags` and `new_media` of a function of the database."""
    tags = list(row.tags) if row.tags else None
    return (json_of(row.mentions), tags, json_of(row.media))


def json_of(value: object) -> str | None:
    """A parameter of a function of the database: NULL for nothing and for an empty list."""
    return orjson.dumps(value).decode() if value else None
