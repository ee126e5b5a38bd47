"""Several reads of one shard as of one moment, without a lock."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from infra.sharding.sql import execute


@contextmanager
def snapshot(alias: str) -> Iterator[None]:
    """All queries of the block see the shard at the moment of the first. Nothing can be written."""
    with transaction.atomic(using=alias, durable=True):
        execute(alias, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
