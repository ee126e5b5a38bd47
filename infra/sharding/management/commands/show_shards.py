"""`manage.py show_shards`: every database at a glance."""

import json
from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand

from infra.sharding.asking import ask_within, why
from infra.sharding.facts import ShardFacts, read_facts
from infra.sharding.placement import all_aliases

PATIENCE_S = 5.0
HEADER = (
    f"{'database':<10} {'version':>8} {'buckets':>7} {'accounts':>12} {'size MB':>10}"
    f" {'connections':>11} {'clock ms':>9}  place, replica"
)


class Command(BaseCommand):
    help = "Shows each database: place, size, accounts, connections, clock, and its replica."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--shard", choices=all_aliases(), help="only this database")

    def handle(self, *args: Any, **options: Any) -> None:
        aliases = [options["shard"]] if options["shard"] else all_aliases()
        answers = ask_within({alias: partial(read_facts, alias) for alias in aliases}, PATIENCE_S)
        if not options["json"]:
            self.stdout.write(HEADER)
        for alias, facts in answers.items():
            if isinstance(facts, ShardFacts):
                as_json = json.dumps(facts._asdict())
                self.stdout.write(as_json if options["json"] else _line(facts))
            else:
                self.stderr.write(f"{alias}: unreachable: {why(facts)}")


def _line(facts: ShardFacts) -> str:
    accounts = "" if facts.account_count is None else f"{facts.account_count:,}"
    connections = f"{facts.connection_count}/{facts.most_connections}"
    replica = f", replica {facts.replica}" if facts.replica else ""
    return (
        f"{facts.alias:<10} {facts.server_version:>8} {facts.bucket_count:>7} {accounts:>12}"
        f" {facts.size_bytes / 1e6:>10,.1f} {connections:>11} {facts.clock_offset_s * 1e3:>9.1f}"
        f"  {facts.place}{replica}"
    )
