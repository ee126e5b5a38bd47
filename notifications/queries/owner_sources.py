"""What the sources of notifications say now: edges and responses of the owners' own shard, and the
posts that mention, on their authors' shards.
"""

from collections.abc import Iterator, Sequence

from infra.sharding.buckets import shard_of
from notifications.queries.actor_sources import occurrence_of, occurrences_of_edge
from notifications.rules import ATTRIBUTES
from notifications.types import RESPONSE_OF, NotificationKind, Occurrence
from posts.ids import PostId
from posts.queries.responses import read_responses, read_states, revision_of
from relations.queries.edges import load_backward_edges

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
