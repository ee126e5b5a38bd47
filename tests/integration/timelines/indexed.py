"""Posts as rows: in the posts tables, and in every shard's recent-posts index."""

from collections.abc import Iterable

from django.conf import settings

from infra.sharding.buckets import group_by_shard
from infra.sharding.sql import execute
from posts.ids import EPOCH, SEQUENCES, PostId
from timelines.recent.actions.index_posts import index_recent
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.types import Entry

INSERT = """
INSERT INTO posts_post
    (author_id, moment, text, sensitive, spoiler_text, kind, target_author, target_moment)
SELECT author_id, moment, 'x', false, '', CASE WHEN target_author IS NULL THEN 0 ELSE 2 END,
    target_author, target_moment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS one (author_id, moment, target_author, target_moment)
"""
DELETE = """
UPDATE posts_post SET deleted_at = now(), text = ''
WHERE (author_id, moment) IN (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))
"""


ON_TIME = f"UPDATE timelines_recentpost SET arrival = (moment / {SEQUENCES} + {EPOCH}) * 1000"


def write_posts(entries: Iterable[Entry]) -> None:
    by_author: dict[int, list[Entry]] = {}
    for entry in entries:
        by_author.setdefault(entry.event.author_id, []).append(entry)
    for alias, authors in group_by_shard(by_author).items():
        rows = [_row(entry) for author in authors for entry in by_author[author]]
        execute(alias, INSERT, [list(column) for column in zip(*rows, strict=True)])


def _row(entry: Entry) -> tuple[int, int, int | None, int | None]:
    event, original = entry
    target = (None, None) if event == original else (original.author_id, original.moment)
    return event.author_id, event.moment, *target


def delete_posts(ids: Iterable[PostId]) -> None:
    by_author: dict[int, list[PostId]] = {}
    for post_id in ids:
        by_author.setdefault(post_id.author_id, []).append(post_id)
    for alias, authors in group_by_shard(by_author).items():
        gone = [post_id for author in authors for post_id in by_author[author]]
        execute(alias, DELETE, ([i.author_id for i in gone], [i.moment for i in gone]))


def index_everywhere(entries: Iterable[Entry], complete_from: int) -> None:
    """As after the drain: every shard has all posts from this second on."""
    recent = [entry for entry in entries if entry.event.second >= complete_from]
    for alias in settings.SHARD_ALIASES:
        index_recent(alias, recent)
        lower_low_water_mark(alias, complete_from)


def arrive_on_time() -> None:
    """As if all indexed posts had arrived in their second, for posts with seconds of a test."""
    for alias in settings.SHARD_ALIASES:
        execute(alias, ON_TIME)
