"""Publishes scheduled posts: each in one transaction with the end of its row, so exactly once."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import structlog
from django.db import InterfaceError, OperationalError, transaction

from accounts.actions.lock_account import lock_account
from accounts.errors import AccountNotFound
from accounts.queries.profiles import find_profile
from accounts.types import Restriction
from infra.api.errors import TidelineError
from infra.changes.failpoints import failpoint
from infra.moving import AccountMoving
from infra.sharding.buckets import owned_condition
from infra.sharding.sql import execute, fetch_all
from posts.actions.check_quote import check_told
from posts.actions.create_post import target_of
from posts.actions.insert_post import insert_post
from posts.actions.read_links import read_links
from posts.scheduled import metrics
from posts.scheduled.draft_of import draft_of
from posts.scheduled.errors import AuthorMayNotPost
from posts.scheduled.queries.scheduled import BEYOND, KEY_HOLDS_MS, row_of
from posts.scheduled.sql import COLUMNS, PUBLISHED, TABLE
from posts.scheduled.types import ScheduledPostRow

# Changes of the shard wait while posts are published. The next run publishes the others.
MOST_AT_ONCE = 50
TRY_AGAIN_MS = 30_000
DUE = f"""
SELECT author_id, {COLUMNS} FROM {TABLE}
WHERE failure = '' AND next_ms <= %s AND {{owned}} ORDER BY next_ms LIMIT %s
"""  # noqa: S608
# Not the row that was read, if the author has changed it since.
_SAME = "author_id = %s AND scheduled_id = %s AND due_ms = %s AND failure = ''"
# One with a key stays for the hour of that key; the author's next scheduled post deletes it.
KEEP = f"""
UPDATE {TABLE} SET failure = '{PUBLISHED}', next_ms = {BEYOND}
WHERE key <> '' AND scheduled_id > %s AND {_SAME}
"""  # noqa: S608
DELETE = f"DELETE FROM {TABLE} WHERE {_SAME}"  # noqa: S608
FAIL = f"UPDATE {TABLE} SET failure = %s WHERE {_SAME}"  # noqa: S608
PUT_OFF = f"UPDATE {TABLE} SET next_ms = %s WHERE {_SAME}"  # noqa: S608
UNKNOWN = "The post could not be published"
AWAY = (OperationalError, InterfaceError)
log = structlog.get_logger()


class DuePost(NamedTuple):
    """A scheduled post, and who wrote it."""

    author_id: int
    row: ScheduledPostRow

    @property
    def key(self) -> Sequence[int]:
        """The parameters of _SAME."""
        return self.author_id, self.row.scheduled_id, self.row.due_ms


def publish_due(alias: str, now_ms: int) -> int:
    """Publishes the posts of one shard that are due, the oldest first. Returns how many.

    What cannot be published gets a `failure`, which its author sees. If another shard that a post
    needs is away, the post waits. Safety: each post is published once, also when several processes
    run it, or when one dies. Cost: one query by index; about six statements for each post.
    """
    sql = DUE.format(owned=owned_condition(alias, "author_id"))
    rows = fetch_all(alias, sql, (now_ms, MOST_AT_ONCE))
    return sum(_try(alias, DuePost(author, row_of(row)), now_ms) for author, *row in rows)


def _try(alias: str, due: DuePost, now_ms: int) -> bool:
    try:
        return _publish(alias, due)
    except TidelineError as error:
        _fail(alias, due, str(error))
    except AccountMoving as error:
        # Its shard refuses to put it off, too. Others must not wait behind it.
        log.info("scheduled_post.moving", author=due.author_id, error=str(error))
    except AWAY as error:
        log.warning("scheduled_post.put_off", author=due.author_id, error=str(error))
        execute(alias, PUT_OFF, (now_ms + TRY_AGAIN_MS, *due.key))
        metrics.PUBLISHED.labels("put_off").inc()
    except Exception:  # else it would be tried first, forever
        log.exception("scheduled_post.failed", author=due.author_id)
        _fail(alias, due, UNKNOWN)
    return False


def _publish(alias: str, due: DuePost) -> bool:
    """False: another process published it, or its author changed it. What other shards know is
    read before the transaction."""
    author_id, row = due
    _check_author(author_id)
    now_s = time.time()
    draft = draft_of(author_id, row.params, now_s)
    links = read_links(draft.text)
    check_told(author_id, draft, links)
    failpoint("scheduled.read")
    with transaction.atomic(using=alias):
        lock_account(alias, author_id)
        if not _end(alias, due, now_s):
            return False
        insert_post(author_id, draft, target_of(draft), now_s, None, links)
        failpoint("scheduled.published")
    metrics.PUBLISHED.labels("published").inc()
    return True


def _end(alias: str, due: DuePost, now_s: float) -> int:
    """How many rows ended: 0 if it is not as it was read."""
    if due.row.key:
        kept = execute(alias, KEEP, (int(now_s * 1000) - KEY_HOLDS_MS, *due.key))
        if kept:
            return kept
    return execute(alias, DELETE, due.key)


def _check_author(author_id: int) -> None:
    """Raises: AuthorMayNotPost, AccountNotFound."""
    profile = find_profile(author_id)
    if profile is None:
        raise AccountNotFound
    if profile.restrictions & (Restriction.FROZEN | Restriction.SUSPENDED):
        raise AuthorMayNotPost


def _fail(alias: str, due: DuePost, reason: str) -> None:
    execute(alias, FAIL, (reason, *due.key))
    metrics.PUBLISHED.labels("failed").inc()
