"""Reports the end of an import to the floors above."""

from django.db import transaction

from infra.changes.append import append_change
from infra.sharding.shards import shard_aliases
from posts.changes import ImportEnded


def end_import() -> None:
    """Lets each shard drop live timelines, which may lack imported posts.

    Call it when all posts are delivered: a timeline that is built earlier may lack some. Safety:
    idempotent. Cost: a statement a shard; the drain does the rest.
    """
    for alias in shard_aliases():
        with transaction.atomic(using=alias):
            append_change(alias, 0, ImportEnded())
