"""Cools hot authors who have fewer than COOL_RATIO of HOT_FOLLOWERS.

The gap between the two limits keeps an author near the limit from changing all the time.
"""

import structlog
from django.conf import settings
from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.errors import AccountNotFound
from infra.changes.append import append_change
from infra.sharding.sql import execute
from timelines.changes import AuthorCooled
from timelines.hot.queries.hot_authors import list_hot_authors, load_follower_counts

COOL_RATIO = 0.8
COOL = "UPDATE timelines_hotauthor SET is_cooling = true WHERE author_id = %s AND NOT is_cooling"
END = "DELETE FROM timelines_hotauthor WHERE author_id = %s AND is_cooling"
log = structlog.get_logger()


def cool_hot_authors(alias: str) -> None:
    """Begins to cool hot authors who lost followers. Cost: two short queries."""
    cool_shard(alias)


def cool_shard(alias: str) -> list[int]:
    """The authors of one shard who begin to cool now."""
    followers = load_follower_counts(alias, list_hot_authors(alias))
    few = COOL_RATIO * settings.HOT_FOLLOWERS
    cooled = [author for author, count in followers.items() if count < few]
    return [author for author in cooled if begin_cooling(alias, author)]


def begin_cooling(alias: str, author_id: int) -> bool:
    """Pushes to the author's followers again. False: is cooling already, or has no account.

    Safety: one transaction. Cost: three statements.
    """
    try:
        with transaction.atomic(using=alias):
            lock_account(alias, author_id)
            if not execute(alias, COOL, (author_id,)):
                return False
            append_change(alias, author_id, AuthorCooled())
    except AccountNotFound:
        return False
    log.info("author.cooled", author=author_id)
    return True


def end_cooling(alias: str, author_id: int) -> bool:
    """The author is no longer hot. False: became hot again before."""
    return execute(alias, END, (author_id,)) > 0
