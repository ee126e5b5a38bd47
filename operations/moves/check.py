"""What must be so before a move begins. Each fault is a line that says what to do."""

from collections.abc import Iterator, Sequence

from django.conf import settings

from infra.changes.pausing import list_pauses
from infra.sharding.database_info import read_clock_offset
from infra.sharding.pooled.use import roles_of_pools
from infra.sharding.schema import find_missing_schema, list_missing_migrations, read_schema
from infra.sharding.sql import fetch_all, fetch_one
from timelines.recent.low_water_mark import find_low_water_mark, has_own_only

CLOCK_MS = 200
# A slot for the stream, and one for each table that is copied at the same time.
SLOTS, WORKERS = 4, 4
SETTINGS = """
SELECT name, setting FROM pg_settings WHERE name IN ('wal_level', 'max_replication_slots',
    'max_wal_senders', 'max_logical_replication_workers', 'max_worker_processes',
    'max_slot_wal_keep_size', 'synchronous_standby_names')
"""
USED = (
    "SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_stat_replication)"
)
# Who is no superuser: what each right is, and how to give it.
RIGHTS = """
SELECT current_setting('server_version_num')::int / 10000, rolname, ARRAY[
    CASE WHEN NOT rolreplication THEN format('ALTER ROLE %%I REPLICATION', rolname) END,
    CASE WHEN NOT EXISTS (SELECT FROM pg_roles AS may WHERE may.rolname = 'pg_create_subscription'
            AND pg_has_role(may.oid, 'USAGE'))
        THEN format('GRANT pg_create_subscription TO %%I', rolname) END,
    CASE WHEN NOT has_database_privilege(current_database(), 'CREATE')
        THEN format('GRANT CREATE ON DATABASE %%I TO %%I', current_database(), rolname) END]
FROM pg_roles WHERE rolname = current_user AND NOT rolsuper
"""
# Before it only superusers subscribe.
SUBSCRIBER_SINCE = 16
READS_ALL = "SELECT pg_has_role('pg_read_all_stats', 'USAGE')"


def find_faults(source: str, target: str) -> list[str]:
    """Why buckets cannot move between these shards now. About thirty short queries."""
    faults = [fault for alias in (source, target) for fault in _faults_of(alias)]
    if any(" lacks " in fault for fault in faults):
        return faults
    return [*faults, *_differences(source, target), *_find_index_faults(source, target)]


def find_warnings(source: str, target: str) -> list[str]:
    """What makes a move less safe than it could be."""
    return [
        f"{alias}: max_slot_wal_keep_size is -1: if the other shard hangs, the log fills the disk"
        for alias in (source, target)
        if _settings(alias)["max_slot_wal_keep_size"] == "-1"
    ]


def _faults_of(alias: str) -> Iterator[str]:
    own, used = _settings(alias), fetch_one(alias, USED) or (0, 0)
    if own["wal_level"] != "logical":
        yield f"{alias}: wal_level is {own['wal_level']}: set wal_level = logical, and restart it"
    least = {
        "max_replication_slots": used[0] + SLOTS,
        "max_wal_senders": used[1] + SLOTS,
        "max_logical_replication_workers": WORKERS,
        "max_worker_processes": WORKERS + 1,
    }
    for name, wanted in least.items():
        if int(own[name]) < wanted:
            yield f"{alias}: {name} is {own[name]}: it needs {wanted} at least, and a restart"
    if "*" in own["synchronous_standby_names"]:
        yield (
            f"{alias}: synchronous_standby_names has *, and so the other shard would count as a"
            " standby: name the standbys"
        )
    if (rights := fetch_one(alias, RIGHTS)) and (lacking := name_lacking_rights(*rights)):
        yield f"{alias}: the role {rights[1]} may not replicate: {lacking}"
    if roles_of_pools(alias) and fetch_one(alias, READS_ALL) != (True,):
        yield f"{alias}: the role sees no transactions of the pool: GRANT pg_read_all_stats TO it"
    for line in list_missing_migrations(alias) + find_missing_schema(alias, read_schema(alias)):
        yield f"{alias} {line}: run migrate_shards"


def name_lacking_rights(major: int, role: str, grants: Sequence[str | None]) -> str:
    """The statements that give what lacks of the rights to replicate; empty: nothing."""
    if major < SUBSCRIBER_SINCE:
        return f'ALTER ROLE "{role}" SUPERUSER, until the move is completed (PostgreSQL {major})'
    return "; ".join(grant for grant in grants if grant)


def _differences(source: str, target: str) -> Iterator[str]:
    schemas = {alias: read_schema(alias) for alias in (source, target)}
    for alias, other in ((source, target), (target, source)):
        yield from (f"{alias} lacks {line}" for line in sorted(schemas[other] - schemas[alias]))
    apart_ms = abs(read_clock_offset(source) - read_clock_offset(target)) * 1e3
    if apart_ms > CLOCK_MS:
        yield f"the clocks of {source} and {target} are {apart_ms:,.0f} ms apart"
    paused = {pause.kind for pause in list_pauses(source)}
    for kind in sorted(paused - {pause.kind for pause in list_pauses(target)}):
        yield f"{kind} is paused on {source}: pause it on {target}, too"


def _find_index_faults(source: str, target: str) -> Iterator[str]:
    """The index moves if it is by author. If not, the target must have all that the source has."""
    is_by_author = settings.RECENT_INDEX == "by_author"
    for alias in (source, target):
        if has_own_only(alias) != is_by_author:
            what = "not the posts" if is_by_author else "the posts"
            yield (
                f"{alias}: its recent-posts index has {what} of its own accounts only, and"
                f" RECENT_INDEX is {settings.RECENT_INDEX}: run backfill recent-posts"
            )
    is_complete = [find_low_water_mark(alias) is not None for alias in (source, target)]
    if not is_by_author and is_complete == [True, False]:
        yield f"{target}: its recent-posts index is not complete: run backfill recent-posts"


def _settings(alias: str) -> dict[str, str]:
    return dict(fetch_all(alias, SETTINGS))
