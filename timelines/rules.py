"""May the viewer see it now? Pure: plain values in, verdicts out."""

from collections.abc import Mapping
from typing import NamedTuple

from posts.ids import PostId
from relations.types import Flag, Standing
from timelines.types import Entry


class Facts(NamedTuple):
    """What the verdicts rest on, as it is now.

    `fragments`: posts that exist. `accounts`: authors that exist. `standings`: what lies between
    the viewer and everybody who made something happen or wrote what is shown, oneself left out.
    """

    viewer_id: int
    now_ms: int
    fragments: Mapping[PostId, bytes]
    accounts: Mapping[int, bytes]
    standings: Mapping[int, Standing]


def is_visible_at_home(entry: Entry, facts: Facts) -> bool:
    """A post that exists, brought by oneself or somebody one follows and does not mute now.

    What they repost must be of nobody who is muted or blocked, either way, and theirs must not be
    hidden.
    """
    source, author = entry.event.author_id, entry.original.author_id
    return (
        entry.event in facts.fragments
        and entry.original in facts.fragments
        and source in facts.accounts
        and author in facts.accounts
        and _is_listened_to(source, facts)
        and (
            entry.event == entry.original
            or (_shows_reposts(source, facts) and _is_bearable(author, facts))
        )
    )


def _is_listened_to(source: int, facts: Facts) -> bool:
    if source == facts.viewer_id:
        return True
    return facts.standings[source].is_followed and _is_bearable(source, facts)


def _is_bearable(author: int, facts: Facts) -> bool:
    if author == facts.viewer_id:
        return True
    standing = facts.standings[author]
    return not (standing.is_blocked or standing.is_muted_at(facts.now_ms))


def _shows_reposts(source: int, facts: Facts) -> bool:
    return source == facts.viewer_id or not facts.standings[source].flags & Flag.HIDES_REPOSTS
