"""Decides which entries the viewer may see now. Pure: plain values in, plain values out."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from accounts.encode import is_limited
from posts.api.present import find_replied_to, is_repost
from posts.ids import PostId
from relations.queries.relationships import Relationships
from relations.types import EdgeFlag, Relationship
from timelines.types import Entry


class VisibilityInputs(NamedTuple):
    """The current state that the rules look at.

    `fragments`: posts that exist. `accounts`: authors that exist. `relationships`: the viewer's, to
    all authors of the events and of the shown posts, without the viewer. `replies_to`: replies
    to these accounts are shown, and replies of an author to the same author; None: all replies.
    """

    viewer_id: int
    now_ms: int
    fragments: Mapping[PostId, bytes]
    accounts: Mapping[int, bytes]
    relationships: Relationships
    replies_to: Collection[int] | None = None


def merge(entries: Iterable[Entry], inputs: VisibilityInputs) -> dict[PostId, list[Entry]]:
    """The visible entries by the post that they show, newest first.

    A page shows each post once, at the place of its newest visible entry (ADR 0011).
    """
    by_post: dict[PostId, list[Entry]] = {}
    repeated: set[PostId] = set()
    fragments, clear_authors = inputs.fragments, _list_clear_authors(inputs)
    for entry in entries:
        event, original = entry
        if event is original and event.author_id in clear_authors:
            is_visible = event in fragments and not is_repost(fragments[event])
        else:
            is_visible = is_visible_at_home(entry, inputs)
        if is_visible and original in by_post:
            by_post[original].append(entry)
            repeated.add(original)
        elif is_visible:
            by_post[original] = [entry]
    for original in repeated:
        by_post[original].sort(reverse=True)
    return by_post


def is_visible_at_home(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the event exists and is of the viewer, or of a followee who is not muted now.

    A repost whose entry lost its original is not shown: its fragment alone is no JSON.
    A repost is shown unless the reposter's reposts are hidden, or its original is of an account
    that is muted, blocked in either direction, or limited and not followed.
    """
    event, original = entry
    author = event.author_id
    if event not in inputs.fragments or author not in inputs.accounts:
        return False
    if author not in inputs.relationships.clear_follows and not _is_author_shown(author, inputs):
        return False
    if event is original or event == original:
        if is_repost(inputs.fragments[event]):
            return False
        return inputs.replies_to is None or _is_reply_shown(inputs.replies_to, inputs, event)
    return _are_reposts_shown(author, inputs) and _is_original_shown(original, inputs)


def is_stale(entry: Entry, inputs: VisibilityInputs) -> bool:
    """Whether the entry will never be shown: a post is deleted, the author is not followed, or the
    entry of a repost lost its original.

    If the viewer follows the author again, that brings the entries again.
    """
    event, original = entry
    author = event.author_id
    if event not in inputs.fragments or original not in inputs.fragments:
        return True
    if is_repost(inputs.fragments[original]):
        return True
    return author != inputs.viewer_id and not inputs.relationships.by_account[author].is_followed


def _list_clear_authors(inputs: VisibilityInputs) -> Collection[int]:
    """Authors whose own posts are all visible. Found once per page: most posts are of these."""
    if inputs.replies_to is not None:
        return ()
    return inputs.relationships.clear_follows.intersection(inputs.accounts)


def _is_author_shown(author: int, inputs: VisibilityInputs) -> bool:
    """For authors who are no `clear_follows`: the viewer, and those whose mute may have ended."""
    if author == inputs.viewer_id:
        return True
    relationship = inputs.relationships.by_account[author]
    return relationship.is_followed and not _is_blocked_or_muted(relationship, inputs.now_ms)


def _is_reply_shown(replies_to: Collection[int], inputs: VisibilityInputs, post: PostId) -> bool:
    """As in Mastodon's lists. A repost of a reply is not checked."""
    target = find_replied_to(inputs.fragments[post])
    return target in (None, post.author_id) or target in replies_to


def _are_reposts_shown(reposter: int, inputs: VisibilityInputs) -> bool:
    if reposter == inputs.viewer_id:
        return True
    return not inputs.relationships.by_account[reposter].flags & EdgeFlag.HIDES_REPOSTS


def _is_original_shown(original: PostId, inputs: VisibilityInputs) -> bool:
    author = original.author_id
    if original not in inputs.fragments or author not in inputs.accounts:
        return False
    if author == inputs.viewer_id:
        return True
    relationship = inputs.relationships.by_account[author]
    if _is_blocked_or_muted(relationship, inputs.now_ms):
        return False
    return relationship.is_followed or not is_limited(inputs.accounts[author])


def _is_blocked_or_muted(relationship: Relationship, now_ms: int) -> bool:
    return relationship.is_blocked or relationship.is_muted_at(now_ms)
