"""Reports the ends of polls: a mark and a change in one statement on the shard of the author."""

from infra.changes.append import AppendedChange, announce, change_columns
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import owned_condition
from infra.sharding.sql import fetch_all, fetch_one
from posts.changes import PollClosed

# A vote may wait for its lock, and clocks differ, so a poll is reported a little after its end.
GRACE_S = 5
# Changes of the shard wait while the ends are reported. The next run reports the others.
MOST_AT_ONCE = 100
ENDED = """
SELECT author_id, moment FROM posts_post
WHERE poll IS NOT NULL AND NOT is_end_reported AND deleted_at IS NULL
    AND (poll ->> 'expires_at_s')::bigint <= %s AND {owned}
ORDER BY (poll ->> 'expires_at_s')::bigint LIMIT %s
"""
END = f"SELECT * FROM posts_end_poll({', '.join(['%s'] * 5)})"  # noqa: S608


def end_polls(alias: str, now_s: float) -> int:
    """Reports the ends of polls of one shard, the oldest first. Returns how many it reported.

    Safety: each end is reported once, also when several processes run it, or when one dies. Cost:
    one query by index, and one statement for each end.
    """
    sql = ENDED.format(owned=owned_condition(alias, "author_id"))
    ended = fetch_all(alias, sql, (int(now_s) - GRACE_S, MOST_AT_ONCE))
    return sum(_end(alias, author_id, moment) for author_id, moment in ended)


def _end(alias: str, author_id: int, moment: int) -> bool:
    """False: another process reported it, or the post was deleted."""
    change = PollClosed(moment)
    row = fetch_one(alias, END, (author_id, moment, *change_columns(author_id, change)))
    failpoint("polls.end_reported")
    change_id, at = row  # type: ignore[misc]  # a function has one row
    if change_id is not None:
        announce(alias, author_id, change, AppendedChange(change_id, at))
    return change_id is not None
