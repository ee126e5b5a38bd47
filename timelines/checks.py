"""System checks of timelines: the recent-posts index, and the Cassandra of cold timelines."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning
from django.db import DatabaseError, InterfaceError

from infra.sharding.placement import GLOBAL_ALIAS, known_shards
from timelines.recent.low_water_mark import has_own_only

# With more shards, writing each post to all of them costs more than their pulls save.
MOST_REPLICAS = 8


def check_recent_index(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Compares the setting with what the shards among `databases` have. One query a shard."""
    shards = [alias for alias in known_shards() if alias in (databases or ())]
    try:
        own_only = [alias for alias in shards if has_own_only(alias)]
    except (DatabaseError, InterfaceError):
        return []  # it does not answer, or has no tables yet: other checks say so
    if settings.RECENT_INDEX == "by_author":
        return _check_by_author([alias for alias in shards if alias not in own_only])
    return [*_check_replicated(own_only), *_check_count()]


def _check_by_author(others: Sequence[str]) -> list[CheckMessage]:
    if not others:
        return []
    text = f"No worker with RECENT_INDEX=by_author has written yet: {', '.join(others)}"
    hint = "Restart all workers with this setting."
    return [Info(text, hint=hint, id="timelines.I001")]


def _check_replicated(own_only: Sequence[str]) -> list[CheckMessage]:
    if not own_only:
        return []
    text = f"The recent-posts index of {', '.join(own_only)} has the posts of its own accounts only"
    hint = "Restart all workers with RECENT_INDEX=replicated, then run backfill recent-posts."
    return [Warning(text, hint=hint, id="timelines.W001")]


def _check_count() -> list[CheckMessage]:
    count = len(known_shards())
    if count <= MOST_REPLICAS:
        return []
    text = f"RECENT_INDEX=replicated writes each post to {count} shards"
    return [Warning(text, hint="Above 8 shards by_author costs less.", id="timelines.W002")]


def check_cassandra(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Connects to the Cassandra of CASSANDRA_URL, when the default database is checked."""
    if settings.CASSANDRA is None or GLOBAL_ALIAS not in (databases or ()):
        return []
    find_problem = import_module("timelines.stores.cassandra_check").find_problem
    timeout_s = settings.CASSANDRA_TIMEOUT_MS / 1000
    problem = find_problem(settings.CASSANDRA, timeout_s, settings.TIMELINE_COLD_DAYS)
    hint = "docs/how-to/use-cassandra.md has the table and the settings."
    return [Error(f"CASSANDRA_URL: {problem}", hint=hint, id="timelines.E001")] if problem else []
