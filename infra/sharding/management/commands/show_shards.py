"""`manage.py show_shards`: facts about every database, one line each.

**When**: to see all databases at once. For each it shows the address, PostgreSQL's version, how
many of the 16,384 buckets it has, its accounts (as of the last ANALYZE), its size, connections in
use and allowed, the offset of its clock from this machine's, and the states of its replicas. A
database that does not answer within five seconds gets a line on stderr. `--json` prints one object
a line. **Costs**: five short statements a database, two a replica; none of them reads a table.

```
$ manage.py show_shards
database    version buckets     accounts    size MB connections  clock ms  place; replicas
default       15.18       0                    11.4        9/80       0.1  db0:5432/tideline
shard0        15.18    4096    1,002,340   48,113.0       22/80      -0.2  db1:5432/tideline_shard0; shard0_replica0 used, 0 bytes behind
shard1: unreachable: connection timeout expired
```
"""  # noqa: E501

import json
import sys
from argparse import ArgumentParser
from functools import partial
from typing import Any

from infra.command_manual import DocumentedCommand
from infra.sharding.buckets import bucket_map
from infra.sharding.database_info import DatabaseInfo, read_database_info
from infra.sharding.probe import probe_all
from infra.sharding.shards import all_aliases

DEADLINE_S = 5.0
# The map is on the default database. If that is down, the others are shown without bucket counts.
BUCKETS = "bucket map"
HEADER = (
    f"{'database':<10} {'version':>8} {'buckets':>7} {'accounts':>12} {'size MB':>10}"
    f" {'connections':>11} {'clock ms':>9}  place; replicas"
)


class Command(DocumentedCommand):
    help = "Shows the place, size, accounts, connections, clock and replicas of each database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, **options: Any) -> None:
        aliases = [options["shard"]] if options["shard"] else all_aliases()
        calls: dict[str, Any] = {alias: partial(read_database_info, alias) for alias in aliases}
        answers = probe_all(calls | {BUCKETS: bucket_map}, DEADLINE_S)
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
