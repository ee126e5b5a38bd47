"""`manage.py redeliver_events`: sends events of a span of time to a webhook once more.

**When**: a receiver lost events that it had accepted. `--since` and `--until` (default: now) are
times at which the events happened; their ids are the same as before. It stops at the first message
that is refused. **Costs**: reads all changes from the day of `--since` on. **Stopping it**: run it
again from the time of the last event.
"""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError

from infra.api.errors import TidelineError
from infra.command_manual import DocumentedCommand
from infra.jobs.flags import parse_moment
from infra.sharding.errors import NO_ANSWER
from integrations.webhooks.redeliver import redeliver_events
from integrations.webhooks.rows import SecretLost
from integrations.webhooks.sender import MessageRefused


class Command(DocumentedCommand):
    help = (
        "Sends the events that happened in a span of time to a webhook once more, with the same"
        " ids: for a receiver that lost them. New events are sent as usual at the same time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", type=int, help="as show_webhooks prints it")
        parser.add_argument(
            "--since", type=parse_moment, required=True, help="happened from, ISO 8601"
        )
        parser.add_argument("--until", type=parse_moment, help="happened before; default: now")

    def handle(self, *args: Any, **options: Any) -> None:
        until = options["until"] or datetime.now(UTC)
        sent = 0
        try:
            for count in redeliver_events(options["id"], options["since"], until):
                sent += count
                self.stderr.write(f"{sent:,} events sent")
        except (TidelineError, SecretLost, MessageRefused, *NO_ANSWER) as error:
            raise CommandError(f"stopped after {sent:,} events: {error}") from None
        self.stdout.write(f"{sent:,} events sent")
