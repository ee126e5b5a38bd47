"""May the viewer see it now? Pure: plain values in, verdicts out."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from accounts.encode import is_limited
from posts.encode import find_replied_to
from posts.ids import PostId
from relations.types import Flag, Standing
from timelines.types import Entry


class Facts(NamedTuple):
    """What the verdicts rest on, as it is now.

    `fragments`: posts that exist. `accounts`: authors that exist. `standings`: what lies between
    the viewer and everybody who made something happen or wrote what is shown, oneself left out.
    `replies_to`: to whom replies are shown, beside those to themselves; None: to everybody.
    """

    viewer_id: int
    now_ms: int
    fragments: Mapping[PostId, bytes]
    accounts: Mapping[int, bytes]
    standings: Mapping[int, Standing]
    replies_to: Collection[int] | None = None


def is_visible_at_home(entry: Entry, facts: Facts) -> bool:
    """A post that exists, brought by oneself or somebody one follows and does not mute now.

    What they repost must be of nobody who is muted or blocked, either way, and of nobody who is
    limited but those one follows; and theirs must not be hidden.
    """
    event, original = entry
    source, author = event.author_id, original.author_id
    if event not in facts.fragments or source not in facts.accounts:
        return False
    is_repost = event is not original and event != original
    if source != facts.viewer_id:
        standing = facts.standings[source]
        if not standing.is_followed or not _is_bearable(standing, facts.now_ms):
            return False
        if is_repost and standing.flags & Flag.HIDES_REPOSTS:
            return False
    if not is_repost:
        return facts.replies_to is None or _is_reply_shown(facts.replies_to, facts, event)
    return _is_shown_to(facts, original, author)


def _is_reply_shown(replies_to: Collection[int], facts: Facts, post: PostId) -> bool:
    """As Mastodon in its lists: of reposts it is not asked whether they show a reply."""
    target = find_replied_to(facts.fragments[post])
    return target in (None, post.author_id) or target in replies_to


def is_dead(entry: Entry, facts: Facts) -> bool:
    """Whether it will never be shown again: a post is gone, or who brought it is not followed.

    Should the viewer follow them again, their entries come anew.
    """
    event, original = entry
    source = event.author_id
    if event not in facts.fragments or original not in facts.fragments:
        return True
    return source != facts.viewer_id and not facts.standings[source].is_followed


def _is_shown_to(facts: Facts, original: PostId, author: int) -> bool:
    """Whether what somebody reposts may be seen."""
    if original not in facts.fragments or author not in facts.accounts:
        return False
    if author == facts.viewer_id:
        return True
    standing = facts.standings[author]
    if not _is_bearable(standing, facts.now_ms):
        return False
    return standing.is_followed or not is_limited(facts.accounts[author])


def _is_bearable(standing: Standing, now_ms: int) -> bool:
    return not (standing.is_blocked or standing.is_muted_at(now_ms))


def merge(entries: Iterable[Entry], facts: Facts) -> dict[PostId, list[Entry]]:
    """What brought each post, newest first: those of the entries that the viewer may see.

    A post stands in the timeline once, where the newest of them is (ADR 0011).
    """
    brought: dict[PostId, list[Entry]] = {}
    for entry in entries:
        if is_visible_at_home(entry, facts):
            brought.setdefault(entry.original, []).append(entry)
    for by in brought.values():
        if len(by) > 1:
            by.sort(reverse=True)
    return brought
