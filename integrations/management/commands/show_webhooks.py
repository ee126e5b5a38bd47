"""`manage.py show_webhooks`: where events are sent to, and how that goes.

**When**: to see the webhooks: state (`active`, `paused`, `parked`), how far behind, failures, last
error. `--json` prints an object on each line. **Costs**: one query.
"""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

import orjson

from infra.command_manual import DocumentedCommand
from integrations.queries.webhooks import list_webhooks


class Command(DocumentedCommand):
    help = "Lists the webhooks: their state, how far behind they are, and their last error."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="an object on each line")

    def handle(self, *args: Any, **options: Any) -> None:
        for webhook in list_webhooks():
            shown = webhook._asdict()
            line = orjson.dumps(shown).decode() if options["json"] else _text(shown)
            self.stdout.write(line)


def _text(shown: Mapping[str, Any]) -> str:
    types = ", ".join(shown["types"]) or "all events"
    columns = [
        shown["id"],
        shown["state"],
        f"{shown['behind_s']:.0f} s behind",
        shown["url"],
        types,
    ]
    if shown["error"]:
        columns.append(f"failed {shown['failures']} times: {shown['error']}")
    return "  ".join(map(str, columns))
