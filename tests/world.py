"""Empties the whole system, drains it, and makes people."""

import itertools
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.apps import apps
from django.db import OperationalError, connections, transaction
from django.db.models import AutoField, Field, Model
from django.db.models.fields import NOT_PROVIDED
from psycopg.errors import DeadlockDetected

from accounts.actions.lock_user import lock_user
from accounts.actions.restrict import restrict_user
from accounts.models import Account, User
from accounts.queries import site_counts
from accounts.queries.object_kinds import known_object_kinds
from accounts.site_texts.queries import forget_site_description
from accounts.types import Restriction
from infra.caching.client import redis
from infra.caching.questions import answer
from infra.caching.remembered import forget_answers
from infra.changes.compensate import drain
from infra.changes.lag import list_lane_lags
from infra.sharding.buckets import shard_of
from infra.sharding.connection_health import drop_broken_connections
from infra.sharding.placement import is_allowed, placement_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.queries.post_types import known_types
from posts.queries.reactions import known_reactions
from posts.types import Draft
from tests.redis_away import wait_for_redis
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

KEPT = {
    "sharding_bucket",
    "sharding_databaseidentity",
    "timelines_storegeneration",
    "django_content_type",
    "auth_permission",
}
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MOST_ATTEMPTS = 5
_numbers = itertools.count(1)


def clean() -> None:
    """Deletes all rows and all keys. Cheap where there is nothing.

    The server ends sessions that were idle during a long test: they are checked first, as when a
    request begins.
    """
    wait_for_redis()
    drop_broken_connections()
    for alias in all_aliases():
        with connections[alias].cursor() as cursor:
            _delete(cursor, _deletions(alias))
    forget_keys()


def forget_keys() -> None:
    """Deletes what Redis and this process keep."""
    flush_redis()
    forget_memory()


def flush_redis() -> None:
    """Deletes all keys, also those of all nodes of a cluster."""
    redis()._client.clear()


def _delete(cursor: Any, statements: str) -> None:
    """Again after a deadlock: a web server of the test before may still write."""
    for attempts_left in reversed(range(MOST_ATTEMPTS)):
        try:
            cursor.execute(statements)
            return
        except OperationalError as error:
            # One of the statements began this transaction, so it must be ended here.
            cursor.execute("ROLLBACK")
            if not (attempts_left and isinstance(error.__cause__, DeadlockDetected)):
                raise


@cache
def _deletions(alias: str) -> str:
    """One transaction: foreign keys (default database only) are checked at its end."""
    tables = [
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if is_allowed(placement_of(model), alias) and model._meta.db_table not in KEPT
    ]
    return "BEGIN;" + "".join(f'DELETE FROM "{table}";' for table in tables) + "COMMIT"


def forget_memory() -> None:
    """Clears the memory of this process."""
    forget_answers()
    site_counts._Memory.fresh_until = 0
    forget_site_description()
    known_types.forget()
    known_reactions.forget()
    known_object_kinds.forget()


def drain_all() -> int:
    """Delivers pending changes until none is left anywhere; returns how many were delivered."""
    wait_for_redis()
    delivered = 0
    while True:
        lags = [lag for alias in all_aliases() for lag in list_lane_lags(alias) if lag.pending]
        reports = [drain(lag.alias, lag.lane) for lag in lags]
        done = sum(report.delivered for report in reports)
        if not done:
            return delivered
        delivered += done


def make_account(username: str | None = None) -> int:
    """A user and their account, without the cost of hashing a password or of composing SQL."""
    number = next(_numbers)
    user = User(username=username or f"person{number}", password="!")
    [(account_id,)] = _insert("default", user)
    account = Account(id=account_id, username=user.username, created_at=NOW)
    _insert(shard_of(account_id), account)
    return int(account_id)


def _insert(alias: str, row: Model) -> list[tuple[Any, ...]]:
    """Returns the id. The ORM composes its statement each time, which costs 2 ms."""
    fields, statement = _insertion(type(row))
    connection = connections[alias]
    values = [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]
    return fetch_all(alias, statement, values)


@cache
def _insertion(model: type[Model]) -> tuple["list[Field[Any, Any]]", str]:
    """Of all columns to which the database gives no value itself."""
    fields = [
        field
        for field in model._meta.concrete_fields
        if field.db_default is NOT_PROVIDED and not isinstance(field, AutoField)
    ]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    table = model._meta.db_table
    return fields, f'INSERT INTO "{table}" ({columns}) VALUES ({marks}) RETURNING id'


def make_accounts(count: int) -> list[int]:
    return [make_account() for _ in range(count)]


def restrict(account_id: int, restrictions: Restriction, at: datetime = NOW) -> None:
    """As moderators do, without a reason."""
    with transaction.atomic(using="default"):
        restrict_user(lock_user(account_id), restrictions, at)


def publish(author_id: int, text: str = "hello", **options: object) -> PostId:
    return create_post(author_id, Draft(text), **options)  # type: ignore[arg-type]


def find_live(reader_id: int) -> LiveTimeline | None:
    """A reader's live timeline, as a page reads it."""
    return answer(timeline_store().ask(reader_id))
