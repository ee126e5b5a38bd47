"""Commands that show and check the databases."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from infra.sharding.buckets import bucket_map, list_missing_shards
from infra.sharding.database_info import DatabaseInfo, read_clock_offset, read_database_info
from infra.sharding.errors import WrongDatabase
from infra.sharding.identity import find_identity
from infra.sharding.placement import GLOBAL_ALIAS, known_shards
from infra.sharding.probe import ProbeAnswer, probe_all
from infra.sharding.pulse import list_losses
from infra.sharding.replicas import read_replica_states
from infra.sharding.schema import (
    SchemaLines,
    find_missing_schema,
    find_outliers,
    list_missing_migrations,
    read_schema,
)
from infra.sharding.shards import all_aliases
from infra.verbs import DocumentedCommand

CHECK_S = 30.0
SHOW_S = 5.0
CLOCK_MS = 500
# The map is on the default database. If that is down, the others are shown without bucket counts.
BUCKETS = "bucket map"
HEADER = (
    f"{'database':<10} {'version':>8} {'buckets':>7} {'accounts':>12} {'size MB':>10}"
    f" {'connections':>11} {'clock ms':>9}  place; replicas"
)


class DatabaseCheck(NamedTuple):
    """The result for one database. `identity`: in words; empty if a migration is missing.

    `losses`: what the default database knows of shards, by alias.
    """

    identity: str
    schema: SchemaLines
    faults: list[str]
    losses: dict[str, str]


class CheckShards(DocumentedCommand):
    """Compares every database with its setting, its schema with the models and with the other
    shards, and its clock with ours. Each difference is a line; the exit code is then 1.

    **When**: after `migrate_shards`, after a shard was restored or created by hand, and from cron.
    It compares the identity of every database with the settings, and the bucket map's shards with
    them; the schema of every database with the models (tables, columns with type and NULL, named
    indexes and constraints, migrations) and with the other shards; and clocks with this machine's
    (`--clock-ms`, 500). Each difference is a line, and the exit code is then 1. A database that
    does not answer counts as a difference, and so do a replica that cannot be used and a shard that
    [may have lost writes](#shards-reconcile). `--shard` shows one database. **Costs**: a dozen
    statements a database, on catalogues. It has no run in `jobs_jobrun`.

    ```
    $ manage.py shards check
    default: as it should be (default of installation 5e0a6d0c-2f0e-4a5b-9c7e-3a52f1f0a9d1, since 2026-11-22)
    shard0: as it should be (shard0 of installation 5e0a6d0c-2f0e-4a5b-9c7e-3a52f1f0a9d1, since 2026-11-22)
    shard1: lacks change_pending of changes_change
    shard1: its clock is off by +7,012 ms
    shard1: shard1_replica0 is left alone: behind by 7.3 s
    shard2: wrong database: SHARD_DATABASE_URLS[2] must be the URL of shard2; it leads to the database shard3
    ```
    """  # noqa: E501

    name = "shards check"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a database")
        parser.add_argument("--shard", choices=all_aliases(), help="show only this database")
        parser.add_argument(
            "--clock-ms",
            type=int,
            default=CLOCK_MS,
            help=f"how far a clock may be off, in ms ({CLOCK_MS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        calls = {
            alias: partial(_check_database, alias, options["clock_ms"]) for alias in all_aliases()
        }
        # First the default database: the installation of the shards is compared with its own.
        first = {GLOBAL_ALIAS: calls.pop(GLOBAL_ALIAS)}
        answers = probe_all(first, CHECK_S) | probe_all(calls, CHECK_S)
        faults = find_faults(answers)
        wanted = [options["shard"]] if options["shard"] else list(faults)
        for alias in wanted:
            identity = "" if answers[alias].error else answers[alias].value.identity
            if options["json"]:
                row = {"alias": alias, "identity": identity, "faults": faults[alias]}
                self.stdout.write(json.dumps(row))
            else:
                lines = faults[alias] or [f"as it should be ({identity})"]
                self.stdout.write("\n".join(f"{alias}: {line}" for line in lines))
        if any(faults[alias] for alias in wanted):
            sys.exit(1)


def find_faults(answers: Mapping[str, ProbeAnswer]) -> dict[str, list[str]]:
    """Faults by database: its own, and differences from the majority of the shards."""
    checks = {alias: answer.value for alias, answer in answers.items() if not answer.error}
    shards = {alias: checks[alias].schema for alias in known_shards() if alias in checks}
    odd = find_outliers(shards)
    losses = {alias: loss for check in checks.values() for alias, loss in check.losses.items()}
    return {
        alias: list(
            dict.fromkeys(
                [*checks[alias].faults, *odd.get(alias, []), *filter(None, [losses.get(alias)])]
            )
        )
        if alias in checks
        else [_why(answer)]
        for alias, answer in answers.items()
    }


def _why(answer: ProbeAnswer) -> str:
    is_wrong = isinstance(answer.error, WrongDatabase)
    return f"wrong database: {answer.why}" if is_wrong else f"unreachable: {answer.why}"


def _check_database(alias: str, clock_ms: int) -> DatabaseCheck:
    schema = read_schema(alias)
    faults = list_missing_migrations(alias) + find_missing_schema(alias, schema)
    identity = None if faults else find_identity(alias)
    if not faults:
        faults += [] if identity else ["has no identity: run migrate_shards"]
        faults += list_missing_shards() if alias == GLOBAL_ALIAS else []
    states = read_replica_states(alias).items()
    faults += [f"{name} is {state.words}" for name, state in states if not state.is_used]
    offset_ms = read_clock_offset(alias) * 1e3
    if abs(offset_ms) > clock_ms:
        faults.append(f"its clock is off by {offset_ms:+,.0f} ms")
    losses = list_losses() if identity and alias == GLOBAL_ALIAS else {}
    return DatabaseCheck(str(identity or ""), schema, faults, losses)


class ShowShards(DocumentedCommand):
    """Shows the place, size, accounts, connections, clock and replicas of each database.

    **When**: to see all databases at once. For each it shows the address, PostgreSQL's version, how
    many of the 16,384 buckets it has, its accounts (as of the last ANALYZE), its size, connections
    in use and allowed, the offset of its clock from this machine's, and the states of its replicas.
    A database that does not answer within five seconds gets a line on stderr. `--json` prints one
    object a line. **Costs**: five short statements a database, two a replica; none of them reads a
    table.

    ```
    $ manage.py shards show
    database    version buckets     accounts    size MB connections  clock ms  place; replicas
    default       15.18       0                    11.4        9/80       0.1  db0:5432/tideline
    shard0        15.18    4096    1,002,340   48,113.0       22/80      -0.2  db1:5432/tideline_shard0; shard0_replica0 used, 0 bytes behind
    shard1: unreachable: connection timeout expired
    ```
    """  # noqa: E501

    name = "shards show"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, **options: Any) -> None:
        aliases = [options["shard"]] if options["shard"] else all_aliases()
        calls: dict[str, Any] = {alias: partial(read_database_info, alias) for alias in aliases}
        answers = probe_all(calls | {BUCKETS: bucket_map}, SHOW_S)
        buckets = answers.pop(BUCKETS)
        if not options["json"]:
            self.stdout.write(HEADER)
        for alias, answer in answers.items():
            if answer.error:
                self.stderr.write(f"{alias}: unreachable: {answer.why}")
                continue
            count = None if buckets.error else buckets.value.count(alias)
            row = json.dumps(answer.value._asdict() | {"bucket_count": count})
            self.stdout.write(row if options["json"] else _line(answer.value, count))
        if any(answer.error for answer in answers.values()):
            sys.exit(1)


def _line(facts: DatabaseInfo, bucket_count: int | None) -> str:
    accounts = "" if facts.account_count is None else f"{facts.account_count:,}"
    buckets = "" if bucket_count is None else str(bucket_count)
    connections = f"{facts.connection_count}/{facts.most_connections}"
    replicas = "".join(f"; {alias} {state}" for alias, state in facts.replicas.items())
    return (
        f"{facts.alias:<10} {facts.server_version:>8} {buckets:>7} {accounts:>12}"
        f" {facts.size_bytes / 1e6:>10,.1f} {connections:>11} {facts.clock_offset_s * 1e3:>9.1f}"
        f"  {facts.place}{replicas}"
    )
