"""Replaces the text of a post and keeps the version before: one statement on the author's shard."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.conf import settings

from accounts.errors import AccountNotFound
from counters.sql import account_counts_sql
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.changes.registry import read_payload
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one, named_call
from posts.actions.check_quote import check_told
from posts.actions.insert_post import DAY_S, columns_of_links, json_of, refusal_of
from posts.actions.read_links import read_links
from posts.changes import PostEdited
from posts.errors import PostNotFound, TooManyEdits
from posts.types import Draft, Kind, PostLinks, PostRow, Visibility, WrittenPost

# All versions are kept.
MAX_EDITS = 100
# posts/functions.sql: lock, both versions and change in one round trip.
PARAMETERS = (
    *("author", "wanted_moment", "now_at"),
    *("new_text", "is_sensitive", "new_spoiler_text", "new_language"),
    *("new_mentions", "new_tags", "new_media"),
    *("most_edits", "today", "most_mentions", "most_tags"),
    *("lane", "change", "payload", "new_poll", "image_texts", "new_custom"),
)
EDIT = f"""
SELECT edited.*, {account_counts_sql("%s")}
FROM {named_call("posts_edit_post", PARAMETERS)} AS edited
"""  # noqa: S608


def edit_post(old: PostRow, draft: Draft, image_texts: Sequence[Mapping[str, Any]] = ()) -> bool:
    """Replaces text, warning, flag, language, images, poll, custom. False: the post has them.

    A draft without a poll or custom keeps the old one. Other options, or another number of choices,
    reset the votes. `image_texts`: for some of the draft's images, `id` with `description`, `focus`
    or both.

    `old`: the post as it was read; only what an edit cannot change is taken from it. The next read
    of every page has the new text. Raises: PostNotFound if the post is deleted or hidden,
    AccountNotFound, TooManyEdits, TooManyLinksToday, ImagesTaken, CannotQuote. Safety: idempotent;
    the function locks the account, so versions are in the order of edits. Cost: as `create_post`.
    """
    now_s, alias = time.time(), shard_of(old.author_id)
    new = _row_of(old, draft)
    _check_told(new)
    today = (int(now_s // DAY_S), settings.MENTIONS_PER_DAY, settings.TAGS_PER_DAY)
    at = datetime.fromtimestamp(now_s, UTC)
    change = change_columns(old.author_id, PostEdited(old.moment, 0, 0))
    values = (old.author_id, old.moment, at, *new[2:6], *columns_of_links(new))
    poll = json_of(msgspec.to_builtins(draft.poll))
    values += (MAX_EDITS, *today, *change, poll, json_of(image_texts), draft.custom)
    row = fetch_one(alias, EDIT, (old.author_id, *values))
    is_known, refused, edited_at, custom, reported, change_id, changed_at, counts = row  # type: ignore[misc]
    if not is_known:
        raise AccountNotFound
    if refused is not None:
        raise _refusal(refused, now_s)
    if change_id is None:
        finish_interrupted(alias, old.author_id)
        return False
    # The caches read what others may have changed since `old` was read: moderators hide images, and
    # the post that a reply answers may be deleted.
    new = new._replace(edited_at=edited_at, custom=custom)
    written = WrittenPost(new, counts, time.monotonic())
    known = None if new.media or new.kind == Kind.REPLY else written
    payload = read_payload(PostEdited.kind, reported)
    announce(alias, old.author_id, payload, AppendedChange(change_id, changed_at, known))
    return True


def _row_of(old: PostRow, draft: Draft) -> PostRow:
    """The row as the edit leaves it, without its time and custom. A draft without a language keeps
    the old."""
    links = read_links(draft.text)
    return old._replace(
        text=draft.text,
        sensitive=draft.sensitive,
        spoiler_text=draft.spoiler_text,
        language=draft.language or old.language,
        mentions=links.mentions or None,
        tags=links.tags or None,
        media=draft.media or None,
        poll=msgspec.to_builtins(draft.poll) if draft.poll else old.poll,
    )


def _check_told(new: PostRow) -> None:
    """As of a new post, unless its quote was revoked. Raises: CannotQuote."""
    if new.quoted is not None and not new.is_quote_revoked:
        draft = Draft("", visibility=Visibility(new.visibility), quoted=new.quoted)
        check_told(new.author_id, draft, PostLinks(tuple(new.mentions or ())))


def _refusal(refused: str, now_s: float) -> Exception:
    if refused == "gone":
        return PostNotFound()
    if refused == "full":
        return TooManyEdits(MAX_EDITS)
    return refusal_of(refused, now_s)
