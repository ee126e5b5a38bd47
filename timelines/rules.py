"""May the viewer see it now? Pure: plain values in, verdicts out."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from accounts.encode import is_limited
from posts.api.present import find_replied_to
from posts.ids import PostId
from relations.queries.relationships import Relationships
from relations.types import EdgeFlag, Relationship
from timelines.types import Entry


class VisibilityInputs(NamedTuple):
    """What the verdicts rest on, as it is now.

    `fragments`: posts that exist. `accounts`: authors that exist.
    `relationships`: what lies between
    the viewer and everybody who made something happen or wrote what is shown, oneself left out.
    `replies_to`: to whom replies are shown, beside those to themselves; None: to everybody.
    """

    viewer_id: int
    now_ms: int
    fragments: Mapping[PostId, bytes]
    accounts: Mapping[int, bytes]
    relationships: Relationships
    replies_to: Collection[int] | None = None


def is_visible_at_home(entry: Entry, facts: VisibilityInputs) -> bool:
    """A post that exists, brought by oneself or somebody one follows and does not mute now.

    What they repost must be of nobody who is muted or blocked, either way, and of nobody who is
    limited but those one follows; and theirs must not be hidden.
    """
    event, original = entry
    source = event.author_id
    if event not in facts.fragments or source not in facts.accounts:
        return False
    if source not in facts.relationships.clear_follows and not _is_heard(source, facts):
        return False
    if event is original or event == original:
        return facts.replies_to is None or _is_reply_shown(facts.replies_to, facts, event)
    return _shows_reposts(source, facts) and _is_shown_to(facts, original, original.author_id)


def _is_heard(source: int, facts: VisibilityInputs) -> bool:
    """Oneself is; of others that which the clock decides is left to look at."""
    if source == facts.viewer_id:
        return True
    relationship = facts.relationships.by_account[source]
    return relationship.is_followed and _is_bearable(relationship, facts.now_ms)


def _shows_reposts(source: int, facts: VisibilityInputs) -> bool:
    return (
        source == facts.viewer_id
        or not facts.relationships.by_account[source].flags & EdgeFlag.HIDES_REPOSTS
    )


def _is_reply_shown(replies_to: Collection[int], facts: VisibilityInputs, post: PostId) -> bool:
    """As Mastodon in its lists: of reposts it is not asked whether they show a reply."""
    target = find_replied_to(facts.fragments[post])
    return target in (None, post.author_id) or target in replies_to


def is_stale(entry: Entry, facts: VisibilityInputs) -> bool:
    """Whether it will never be shown again: a post is gone, or who brought it is not followed.

    Should the viewer follow them again, their entries come anew.
    """
    event, original = entry
    source = event.author_id
    if event not in facts.fragments or original not in facts.fragments:
        return True
    return source != facts.viewer_id and not facts.relationships.by_account[source].is_followed


def _is_shown_to(facts: VisibilityInputs, original: PostId, author: int) -> bool:
    """Whether what somebody reposts may be seen."""
    if original not in facts.fragments or author not in facts.accounts:
        return False
    if author == facts.viewer_id:
        return True
    relationship = facts.relationships.by_account[author]
    if not _is_bearable(relationship, facts.now_ms):
        return False
    return relationship.is_followed or not is_limited(facts.accounts[author])


def _is_bearable(relationship: Relationship, now_ms: int) -> bool:
    return not (relationship.is_blocked or relationship.is_muted_at(now_ms))


def _whose_posts_are_shown(facts: VisibilityInputs) -> Collection[int]:
    """Whose every post is visible, as most posts of most pages are: found once instead of for
    each, which is half of what a page's rules cost."""
    return (
        facts.relationships.clear_follows.intersection(facts.accounts)
        if facts.replies_to is None
        else ()
    )


def merge(entries: Iterable[Entry], facts: VisibilityInputs) -> dict[PostId, list[Entry]]:
    """What brought each post, newest first: those of the entries that the viewer may see.

    A post stands in the timeline once, where the newest of them is (ADR 0011).
    """
    brought: dict[PostId, list[Entry]] = {}
    several: set[PostId] = set()
    fragments, plain = facts.fragments, _whose_posts_are_shown(facts)
    for entry in entries:
        event, original = entry
        if event is original and event.author_id in plain:
            is_visible = event in fragments
        else:
            is_visible = is_visible_at_home(entry, facts)
        if is_visible and original in brought:
            brought[original].append(entry)
            several.add(original)
        elif is_visible:
            brought[original] = [entry]
    for original in several:
        brought[original].sort(reverse=True)
    return brought
