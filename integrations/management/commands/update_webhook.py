"""`manage.py update_webhook`: pauses, resumes or deletes a webhook, or changes its secret.

**When**: a webhook should be paused (`--pause`), resumed (`--resume`, `--after` from elsewhere),
deleted (`--delete`), or needs another secret (`--new-secret`). **Costs**: one or two statements. A
message that is on its way is still sent.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from infra.api.errors import TidelineError
from infra.command_manual import DocumentedCommand
from infra.sharding.errors import NO_ANSWER
from integrations.queries.events import first_position
from integrations.webhooks.actions import (
    change_secret,
    delete_webhook,
    pause_webhook,
    resume_webhook,
)


class Command(DocumentedCommand):
    help = "Pauses, resumes or deletes a webhook, or makes a new secret for it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", type=int, help="as show_webhooks prints it")
        act = parser.add_mutually_exclusive_group(required=True)
        act.add_argument("--pause", action="store_true", help="send nothing until --resume")
        act.add_argument("--resume", action="store_true", help="go on where it stopped")
        act.add_argument(
            "--new-secret",
            action="store_true",
            help="print a new secret; for a day the old one signs too",
        )
        act.add_argument("--delete", action="store_true", help="send nothing any more")
        parser.add_argument(
            "--after",
            metavar="POSITION",
            help="with --resume: a position, `oldest` or `now`, instead of where it stopped",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["after"] is not None and not options["resume"]:
            raise CommandError("--after goes with --resume")
        try:
            self._act(options["id"], options)
        except (TidelineError, *NO_ANSWER) as error:
            raise CommandError(str(error)) from None

    def _act(self, webhook_id: int, options: dict[str, Any]) -> None:
        if options["pause"]:
            pause_webhook(webhook_id)
        elif options["resume"]:
            after = options["after"]
            resume_webhook(webhook_id, None if after is None else first_position(after))
        elif options["delete"]:
            delete_webhook(webhook_id)
        else:
            self.stdout.write(f"secret {change_secret(webhook_id)}")
