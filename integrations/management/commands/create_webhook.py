"""`manage.py create_webhook`: sends events to an address.

**When**: a system shall get events by POST ([how](../../how-to/follow-changes.md#webhooks)). It
prints the id and the secret, which is not shown again. `--type` names the events (default: all),
`--after` where to begin (default: now). A wrong address or type is refused.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from infra.api.errors import TidelineError
from infra.command_manual import DocumentedCommand
from infra.sharding.errors import NO_ANSWER
from integrations.events import TYPES
from integrations.queries.events import first_position
from integrations.webhooks.actions import create_webhook


class Command(DocumentedCommand):
    help = (
        "Sends each event of the change feed to an address, signed by the Standard Webhooks"
        " specification. Prints the id and the secret, which is not shown again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", help="https, and not in a private network")
        parser.add_argument(
            "--type", action="append", choices=TYPES, help="only these; may be repeated"
        )
        parser.add_argument(
            "--after", metavar="POSITION", help="a position, or `oldest`; default: now"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            after = first_position(options["after"])
            webhook, secret = create_webhook(options["url"], options["type"] or (), after)
        except (TidelineError, *NO_ANSWER) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"id {webhook.pk}\nsecret {secret}")
