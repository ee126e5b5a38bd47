"""Notifications that owners of one shard lack, by the followers and responses of the same shard.

What the sources of notifications say now: edges and responses of the owners' own shard, and the
posts that mention, on their authors' shards.
"""

from collections.abc import Iterator, Sequence

from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from notifications.actions.write_notifications import DAY_MS
from notifications.queries.actor_sources import (
    KIND_OF_RESPONSE,
    notifies,
    occurrence_of,
    occurrences_of_edge,
)
from notifications.rules import ATTRIBUTES
from notifications.types import CROWD_KINDS, RESPONSE_OF, NotificationKind, Occurrence
from posts.ids import PostId
from posts.queries.responses import read_responses, read_states, revision_of
from posts.queries.threads import load_mutes_of_own
from posts.sql import NEWEST_RESPONSES
from posts.types import ResponseRow
from relations.queries.edges import edge_of, load_backward_edges
from relations.sql import NEWEST_BACKWARD

Identity = tuple[int, int, int, int, int]
# By notification; absent where there is no source.
Sources = dict[Identity, Occurrence]


def read_sources(alias: str, rows: Sequence[Occurrence]) -> Sources:
    """The current occurrences of notifications of owners of one shard. Those without are absent.

    New posts and ends of polls are as long as their post has a row; the list leaves out what is
    deleted. Cost: two queries on the owners' shard, and one on each shard of other posts.
    """
    edges = [row for row in rows if row.kind in ATTRIBUTES]
    responses = [row for row in rows if row.kind in RESPONSE_OF]
    # Decisions are never deleted.
    warnings = [row for row in rows if row.kind == NotificationKind.MODERATION_WARNING]
    others = (*ATTRIBUTES, *RESPONSE_OF, NotificationKind.MODERATION_WARNING)
    posts = [row for row in rows if row.kind not in others]
    of_shard = *_of_edges(alias, edges), *_of_responses(alias, responses)
    occurrences = [*of_shard, *_of_posts(posts), *warnings]
    return {occurrence.identity: occurrence for occurrence in occurrences}


def _of_edges(alias: str, rows: Sequence[Occurrence]) -> Iterator[Occurrence]:
    pairs = {(row.from_id, row.owner_id) for row in rows}
    if pairs:
        for pair, edge in load_backward_edges(alias, pairs).items():
            yield from occurrences_of_edge(pair, edge)


def _of_responses(alias: str, rows: Sequence[Occurrence]) -> Iterator[Occurrence]:
    wanted = [
        (row.post_author, row.post_moment, RESPONSE_OF[NotificationKind(row.kind)], row.from_id, 0)
        for row in rows
    ]
    if wanted:
        yield from map(occurrence_of, read_responses(alias, wanted).values())


def _of_posts(rows: Sequence[Occurrence]) -> Iterator[Occurrence]:
    groups: dict[str, list[PostId]] = {}
    for row in rows:
        groups.setdefault(shard_of(row.post_author), []).append(post_id_of(row))
    states = {
        post_id: state
        for alias, ids in groups.items()
        for post_id, state in read_states(alias, ids).items()
    }
    for row in rows:
        state = states.get(post_id_of(row))
        if state is not None:
            yield _of_post(row, is_live=state[0])


def _of_post(row: Occurrence, is_live: bool) -> Occurrence:
    if row.kind not in (NotificationKind.MENTION, NotificationKind.QUOTE):
        return row
    return row._replace(revision=revision_of(post_id_of(row), is_live), is_on=is_live)


def post_id_of(row: Occurrence) -> PostId:
    """The post that the notification is about."""
    return PostId.at(row.post_author, row.post_moment)


# So many of the newest followers, requests and responses of an owner are looked at.
MOST_OF_AN_OWNER = 400
FLOORS = """
SELECT owner_id, greatest(floor_ms, imported_ms), crowd_floor_ms FROM notifications_inbox
WHERE owner_id = ANY(%s::bigint[])
"""
# Those of the wanted notifications that have a row. By primary key: owners may have very many rows.
KNOWN = """
SELECT owner_id, from_id, kind, post_moment, post_author
FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[])
    AS wanted (owner_id, from_id, kind, post_moment, post_author)
JOIN notifications_notification USING (owner_id, from_id, kind, post_moment, post_author)
"""


def find_missing(alias: str, owner_ids: Sequence[int], now_ms: int) -> dict[int, list[Occurrence]]:
    """What the owners lack of their newest followers, requests and responses, oldest first.

    Left out: what is too old, not newer than what imports brought, deleted, or left out for good.
    Mentions that are no replies are rows of other shards, and are not looked at. So are ends of
    polls and new posts, whose recipients are known to the change only, and decisions of moderators.
    Five queries.
    """
    floors = {row[0]: row[1:] for row in fetch_all(alias, FLOORS, (list(owner_ids),))}
    oldest_ms = now_ms - settings.NOTIFICATION_DAYS * DAY_MS
    wanted = [
        row
        for row in _read_newest(alias, owner_ids)
        if row.is_on
        and row.from_id != row.owner_id
        and row.at_ms > max(oldest_ms - 1, _floor_ms(row, floors.get(row.owner_id, (0, 0))))
    ]
    columns = [
        list(column) for column in zip(*(occurrence.identity for occurrence in wanted), strict=True)
    ]
    known = set(fetch_all(alias, KNOWN, columns)) if wanted else set()
    missing: dict[int, list[Occurrence]] = {}
    for occurrence in sorted(wanted, key=lambda occurrence: occurrence.at_ms):
        if occurrence.identity not in known:
            missing.setdefault(occurrence.owner_id, []).append(occurrence)
    return missing


def _floor_ms(occurrence: Occurrence, floors: Sequence[int]) -> int:
    is_crowd = NotificationKind(occurrence.kind).type in CROWD_KINDS
    return max(floors) if is_crowd else floors[0]


def _read_newest(alias: str, owner_ids: Sequence[int]) -> list[Occurrence]:
    params = {"owners": list(owner_ids), "most": MOST_OF_AN_OWNER}
    occurrences = [
        occurrence
        for follower_id, followee_id, *edge in fetch_all(alias, NEWEST_BACKWARD, params)
        for occurrence in occurrences_of_edge((follower_id, followee_id), edge_of(edge))
    ]
    responses = [ResponseRow(*row) for row in fetch_all(alias, NEWEST_RESPONSES, params)]
    rows = [row for row in responses if row.kind in KIND_OF_RESPONSE]
    return occurrences + _without_muted(rows)


def _without_muted(rows: Sequence[ResponseRow]) -> list[Occurrence]:
    """Without responses in threads that the author of the post mutes, or muted until later, and
    without reactions that do not notify."""
    mutes = load_mutes_of_own({PostId.at(row.author_id, row.moment) for row in rows})
    occurrences = []
    for row in rows:
        occurrence, mute = occurrence_of(row), mutes.get(PostId.at(row.author_id, row.moment))
        is_muted = mute is not None and (mute.is_on or occurrence.at_ms <= mute.since_ms)
        if not is_muted and notifies(occurrence):
            occurrences.append(occurrence)
    return occurrences
