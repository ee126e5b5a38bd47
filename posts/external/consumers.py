"""The consumers of imported posts: caches, and responses on the posts' shards."""

from collections.abc import Sequence

from counters.cache import refresh_account_counts
from counters.queries.counts import Subject
from counters.types import Count
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.changes.registry import Delivery, consumes
from posts.actions.end_reposts import undo_reposts_of_deleted
from posts.actions.orphan_replies import orphan_replies_of_deleted
from posts.actions.record_responses import by_shard, write_responses
from posts.cache.counts import count_entries, post_counts
from posts.cache.newest import end_newest_posts
from posts.cache.replies import end_replies_commands, find_answered_posts
from posts.cache.viewer_state import refresh_viewer_states
from posts.cache.weeks import WEEKS, week_of
from posts.changes import PostsImported
from posts.external.queries.posts import load_imported
from posts.ids import PostId
from posts.queries.responses import group_ids_by_shard, read_post_responses
from posts.types import Kind, ResponseRow, Target

Targets = Sequence[tuple[PostId, Target]]


@consumes(PostsImported)
def refresh_imported(alias: str, deliveries: Sequence[Delivery[PostsImported]]) -> None:
    """Drops the cached weeks and lists of the authors, and refreshes their counts and states.

    Safety: idempotent. Cost: two queries a shard, and a round trip for each kind of cache.
    """
    for delivery in deliveries:
        ids = delivery.payload.ids
        authors = list(dict.fromkeys(post_id.author_id for post_id in ids))
        weeks = dict.fromkeys(map(week_of, ids))
        redis().run([WEEKS.drop_command(*week) for week in weeks])
        end_newest_posts(authors)
        refresh_account_counts(authors)
        refresh_viewer_states(authors)


@consumes(PostsImported)
def record_imported_responses(alias: str, deliveries: Sequence[Delivery[PostsImported]]) -> None:
    """Records imported replies and reposts on the shards of the posts that they are about.

    Safety and cost: as `record_responses`, and one query a shard.
    """
    for delivery in deliveries:
        targets = [
            (PostId.at(row.author_id, row.moment), row.target)
            for row in load_imported(delivery.payload)
            if row.target is not None
        ]
        if targets:
            _record(targets)
            failpoint("posts.imported_recorded")
            _end_those_of_deleted(targets)


def _record(targets: Targets) -> None:
    responses: list[ResponseRow] = []
    wanted = dict(targets)
    for alias, ids in group_ids_by_shard(wanted).items():
        responses += read_post_responses(alias, [(i, wanted[i]) for i in ids])
    counts: dict[Subject, list[Count]] = {}
    for alias, group in by_shard(responses).items():
        counts |= write_responses(alias, group)
    post_counts.refresh(count_entries(counts), end_replies_commands(find_answered_posts(responses)))


def _end_those_of_deleted(targets: Targets) -> None:
    reposts = [(i.author_id, t.post_id) for i, t in targets if t.kind == Kind.REPOST]
    replies = [(i, t.post_id) for i, t in targets if t.kind == Kind.REPLY]
    undo_reposts_of_deleted(reposts)
    orphan_replies_of_deleted(replies)
