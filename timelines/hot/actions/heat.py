"""Authors become hot by their followers: above HOT_FOLLOWERS; and cool below COOL_SHARE of that.

The gap keeps an author who gains and loses a few from going to and fro.
"""

from collections.abc import Sequence

import structlog
from django.conf import settings
from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.errors import AccountNotFound
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.changes.append import append_change
from infra.changes.chores import chore
from infra.sharding.buckets import shard_of
from timelines.changes import AuthorCooled
from timelines.hot.queries.hot_authors import cool_author, heat_author, list_hot_authors

COOL_SHARE = 0.8
EVERY_S = 600
log = structlog.get_logger()


def heat_if_hot(author_id: int) -> None:
    """Notices that an author has become hot. The post that made it be noticed is pushed still.

    Cost: one query by key, on the author's shard; one statement more when it is so.
    """
    alias = shard_of(author_id)
    if _count_followers(alias, [author_id])[author_id] >= settings.HOT_FOLLOWERS:
        heat_author(alias, author_id)
        log.info("author.heated", author=author_id)


@chore(every_s=EVERY_S)
def cool_hot_authors(alias: str) -> None:
    """Lets those cool who have lost their followers. Cost: two short queries."""
    cool_shard(alias)


def cool_shard(alias: str) -> list[int]:
    """The authors of one shard who begin to cool now."""
    followers = _count_followers(alias, list_hot_authors(alias))
    few = COOL_SHARE * settings.HOT_FOLLOWERS
    return [
        author
        for author, count in followers.items()
        if count < few and begin_cooling(alias, author)
    ]


def begin_cooling(alias: str, author_id: int) -> bool:
    """Pushes to the author's followers again. False: is cooling already, or gone.

    Safety: one transaction; killed anywhere, it is begun or it is not. Cost: three statements.
    """
    try:
        with transaction.atomic(using=alias):
            lock_account(alias, author_id)
            if not cool_author(alias, author_id):
                return False
            append_change(alias, author_id, AuthorCooled())
    except AccountNotFound:
        return False
    log.info("author.cooled", author=author_id)
    return True


def _count_followers(alias: str, author_ids: Sequence[int]) -> dict[int, int]:
    counts = read_counts(alias, author_ids, [CounterKind.FOLLOWERS])
    return {author: kinds[CounterKind.FOLLOWERS].value for author, kinds in counts.items()}
