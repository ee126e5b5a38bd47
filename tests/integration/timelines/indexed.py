"""Posts as rows: in the posts tables, and in every shard's recent-posts index."""

from collections.abc import Iterable

from django.conf import settings

from infra.sharding.buckets import group_by_shard
from infra.sharding.sql import execute, fetch_all
from posts.ids import EPOCH, SEQUENCES, PostId
from timelines.recent.factory import recent_index
from timelines.recent.low_water_mark import (
    begin_own_only,
    lower_low_water_mark,
    lower_own_mark,
)
from timelines.recent.packs import drop_packs
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


ON_TIME = f"""
UPDATE timelines_recentpost SET arrival = (moment / {SEQUENCES} + {EPOCH}) * 1000
RETURNING author_id
"""


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
    """As after the drain: the index has all posts from this second on."""
    recent_index().add(
        [entry for entry in entries if entry.event.second >= complete_from], settings.SHARD_ALIASES
    )
    complete_index(complete_from)


def complete_index(complete_from: int) -> None:
    """Says that the index has all posts from this second on."""
    for alias in settings.SHARD_ALIASES:
        lower_mark(alias, complete_from)


def lower_mark(alias: str, complete_from: int) -> None:
    """The same for the index of one shard."""
    if settings.RECENT_INDEX == "by_author":
        begin_own_only()
        lower_own_mark(alias, complete_from)
    else:
        lower_low_water_mark(alias, complete_from)


def arrive_on_time() -> None:
    """As if all indexed posts had arrived in their second, for posts with seconds of a test."""
    for alias in settings.SHARD_ALIASES:
        drop_packs({author_id for (author_id,) in fetch_all(alias, ON_TIME)})
