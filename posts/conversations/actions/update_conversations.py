"""Keeps the conversations of accounts up to date with direct posts, on the accounts' shards."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import PostId

POST = "owner_id, second, author_id, sequence"
LAST = "last_second, last_author, last_sequence, last_arrival"
LATEST_FIRST = "second DESC, arrival DESC, author_id DESC, sequence DESC"
# Only rows that are new: a repeated delivery finds none. Two posts at once leave the later one,
# because the second statement waits for the row of the first. Of one second, the later one is the
# one that was written later: ids of one second are in the order of their authors.
ADD = f"""
WITH added AS (
    INSERT INTO conversations_directpost ({POST}, thread_author, thread_moment, arrival)
    SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[],
        %s::bigint[], %s::bigint[], %s::bigint[])
    ON CONFLICT DO NOTHING RETURNING *
)
INSERT INTO conversations_conversation AS old
    (owner_id, thread_author, thread_moment, {LAST}, is_unread)
SELECT DISTINCT ON (owner_id, thread_author, thread_moment)
    owner_id, thread_author, thread_moment, second, author_id, sequence, arrival,
    author_id <> owner_id
FROM added ORDER BY owner_id, thread_author, thread_moment, {LATEST_FIRST}
ON CONFLICT (owner_id, thread_author, thread_moment) DO UPDATE SET
    last_second = excluded.last_second, last_author = excluded.last_author,
    last_sequence = excluded.last_sequence, last_arrival = excluded.last_arrival,
    is_unread = excluded.is_unread
WHERE (old.last_second, old.last_arrival, old.last_author, old.last_sequence)
    < (excluded.last_second, excluded.last_arrival, excluded.last_author, excluded.last_sequence)
"""  # noqa: S608
_GONE = f"""unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::smallint[])
    AS gone ({POST})"""
# One transaction at a time takes posts of a thread away, and none adds one in the meantime.
# Otherwise the thread could step back to a post that another transaction deletes, or end with a
# post in it.
LOCK = f"""
SELECT FROM conversations_conversation AS old
WHERE (owner_id, thread_author, thread_moment) IN (
    SELECT owner_id, thread_author, thread_moment
    FROM conversations_directpost JOIN {_GONE} USING ({POST})
) ORDER BY owner_id, thread_author, thread_moment FOR UPDATE
"""  # noqa: S608
REMOVE = f"""
DELETE FROM conversations_directpost AS one USING {_GONE}
WHERE (one.owner_id, one.second, one.author_id, one.sequence)
    = (gone.owner_id, gone.second, gone.author_id, gone.sequence)
"""  # noqa: S608
_IS_LAST = """(old.owner_id, old.last_second, old.last_author, old.last_sequence)
    = (gone.owner_id, gone.second, gone.author_id, gone.sequence)"""
# To the post before the one that is gone. A post that came in the meantime stays.
STEP_BACK = f"""
UPDATE conversations_conversation AS old
SET last_second = before.second, last_author = before.author_id, last_sequence = before.sequence,
    last_arrival = before.arrival
FROM {_GONE}
JOIN conversations_conversation AS found ON (
    found.owner_id, found.last_second, found.last_author, found.last_sequence
) = (gone.owner_id, gone.second, gone.author_id, gone.sequence)
CROSS JOIN LATERAL (
    SELECT second, author_id, sequence, arrival FROM conversations_directpost
    WHERE owner_id = found.owner_id AND thread_author = found.thread_author
        AND thread_moment = found.thread_moment
    ORDER BY {LATEST_FIRST} LIMIT 1
) AS before
WHERE (old.owner_id, old.thread_author, old.thread_moment)
    = (found.owner_id, found.thread_author, found.thread_moment) AND {_IS_LAST}
"""  # noqa: S608
END = f"DELETE FROM conversations_conversation AS old USING {_GONE} WHERE {_IS_LAST}"  # noqa: S608


class OwnedPost(NamedTuple):
    """A direct post for one account. `thread`: its first post; None if the post is gone."""

    owner_id: int
    post_id: PostId
    thread: PostId | None

    @property
    def key(self) -> tuple[int, ...]:
        return self.owner_id, *self.post_id


def update_conversations(posts: Iterable[OwnedPost], written_us: Mapping[PostId, int]) -> None:
    """Adds direct posts to the conversations of their owners, and removes those that are gone.

    `written_us`: when the posts were written, in microseconds since 1970; without it, in the first
    of their second. All owners see the same order, whichever post reached them first.

    Safety: idempotent, in any order, if `posts` are as they are now; see record_as_they_are. Cost:
    one statement on each shard of owners; four for posts that are gone.
    """
    by_shard: dict[str, list[OwnedPost]] = {}
    for owned in sorted(set(posts), key=lambda owned: owned.key):
        by_shard.setdefault(shard_of(owned.owner_id), []).append(owned)
    for alias, some in by_shard.items():
        # Not in one transaction: each takes the locks of its threads in their order.
        added = [owned for owned in some if owned.thread]
        _add(alias, [(*each.key, *_columns_of(each, written_us)) for each in added])
        _remove(alias, [owned.key for owned in some if owned.thread is None])


def _add(alias: str, rows: Sequence[tuple[int, ...]]) -> None:
    if rows:
        execute(alias, ADD, [list(column) for column in zip(*rows, strict=True)])


def _remove(alias: str, keys: Sequence[tuple[int, ...]]) -> None:
    if not keys:
        return
    columns = [list(column) for column in zip(*keys, strict=True)]
    with transaction.atomic(using=alias):
        for statement in (LOCK, REMOVE, STEP_BACK, END):
            execute(alias, statement, columns)


def _columns_of(owned: OwnedPost, written_us: Mapping[PostId, int]) -> tuple[int, int, int]:
    post_id, thread = owned.post_id, owned.thread or owned.post_id
    arrival = written_us.get(post_id, post_id.posted_at_s * 1_000_000)
    return thread.author_id, thread.moment, arrival
