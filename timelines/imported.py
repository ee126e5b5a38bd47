"""Imported posts in timelines: those of the last hour are news, the others history.

A dual run brings posts as they happen. They are pushed to live timelines and polls return them, as
other posts. Of a large import, that would be a fan-out of years. So old posts only go into the
indexes, and at the end of the import live timelines are dropped: the next read builds them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from accounts.sql import NEXT_ACCOUNT_IDS
from infra.changes.registry import FollowUp
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from posts.changes import ImportEnded
from posts.external.ages import split_by_age
from posts.ids import PostId
from posts.types import Kind, PostRow, Visibility
from timelines.actions.fan_out import fan_out
from timelines.hot.entries import hot_entries_store
from timelines.hot.queries.hot_authors import list_hot_authors, list_unpushed_authors
from timelines.increments.post_stream import add_to_stream
from timelines.recent.days import first_moment, oldest_read
from timelines.recent.factory import recent_index
from timelines.stores.factory import timeline_store
from timelines.types import Entry

ACCOUNTS_AT_ONCE = 1_000
# A timeline may have 18 KB, and those of so many accounts are read together.
PEEKED_TOGETHER = 100


def enter_imported(alias: str, rows: Sequence[PostRow], now_s: float) -> list[FollowUp]:
    """Pushes the fresh posts, and adds recent ones to the index. Returns what a fan-out returns.

    Safety: idempotent. Cost: as a fan-out of the fresh posts; a statement a shard for the others.
    """
    entries = {entry.event: entry for entry in map(_entry, rows) if entry is not None}
    fresh, old = split_by_age(entries, now_s)
    lowest = first_moment(oldest_read(datetime.fromtimestamp(now_s, UTC).date()))
    recent = [entries[post_id] for post_id in old if post_id.moment >= lowest]
    if recent:
        recent_index().add_old(recent)
    return _push(alias, [entries[post_id] for post_id in fresh])


def _push(alias: str, entries: Sequence[Entry]) -> list[FollowUp]:
    posted: dict[int, list[Entry]] = {}
    for entry in entries:
        posted.setdefault(entry.event.author_id, []).append(entry)
    if not posted:
        return []
    timeline_store().push(posted)  # the authors' own timelines
    follow_ups = fan_out(posted, shard_aliases(), list_unpushed_authors(alias, posted))
    events = [entry.event for entry in entries]
    add_to_stream(events, unsure=events)
    return follow_ups


def drop_next_timelines(alias: str, after: int) -> FollowUp | None:
    """Drops the live timelines of the next ACCOUNTS_AT_ONCE accounts of the shard above this id.

    Returns the change that goes on, None after the last. At the beginning it drops the entries of
    hot authors too. Safety: idempotent. Cost: one query; a round trip for PEEKED_TOGETHER accounts,
    and one for each live timeline.
    """
    if not after:
        for author_id in list_hot_authors(alias):
            hot_entries_store().drop(author_id)
    rows = fetch_all(alias, NEXT_ACCOUNT_IDS, (after, ACCOUNTS_AT_ONCE))
    ids = [account_id for (account_id,) in rows]
    for first in range(0, len(ids), PEEKED_TOGETHER):
        for reader_id in timeline_store().peek(ids[first : first + PEEKED_TOGETHER]):
            timeline_store().drop(reader_id)
    return FollowUp(0, ImportEnded(ids[-1])) if len(ids) == ACCOUNTS_AT_ONCE else None


def _entry(row: PostRow) -> Entry | None:
    """None: a direct post, which is in no timeline."""
    if row.visibility == Visibility.DIRECT:
        return None
    post_id = PostId.at(row.author_id, row.moment)
    if row.kind == Kind.REPOST and row.target is not None:
        return Entry(post_id, row.target.post_id)
    return Entry.of_post(post_id)
