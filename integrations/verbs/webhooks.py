"""Commands on webhooks."""

from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from django.core.management.base import CommandError

from infra.api.errors import TidelineError
from infra.jobs.flags import parse_moment
from infra.sharding.errors import NO_ANSWER
from infra.verbs import DocumentedCommand
from integrations.events import TYPES
from integrations.queries.events import first_position
from integrations.webhooks.actions import (
    change_secret,
    create_webhook,
    delete_webhook,
    pause_webhook,
    redeliver_events,
    resume_webhook,
)
from integrations.webhooks.rows import SecretLost, list_webhooks
from integrations.webhooks.sender import MessageRefused


class CreateWebhook(DocumentedCommand):
    """Sends each event of the change feed to an address, signed by the Standard Webhooks
    specification. Prints the id and the secret, which is not shown again.

    **When**: a system shall get events by POST ([how](../../how-to/follow-changes.md#webhooks)). It
    prints the id and the secret, which is not shown again. `--type` names the events (default:
    all), `--after` where to begin (default: now). A wrong address or type is refused.
    """

    name = "webhooks create"

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


class ShowWebhooks(DocumentedCommand):
    """Lists the webhooks: their state, how far behind they are, and their last error.

    **When**: to see the webhooks: state (`active`, `paused`, `parked`), how far behind, failures,
    last error. `--json` prints an object on each line. **Costs**: one query.
    """

    name = "webhooks show"

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


class UpdateWebhook(DocumentedCommand):
    """Pauses, resumes or deletes a webhook, or makes a new secret for it.

    **When**: a webhook should be paused (`--pause`), resumed (`--resume`, `--after` from
    elsewhere), deleted (`--delete`), or needs another secret (`--new-secret`). **Costs**: one or
    two statements. A message that is on its way is still sent.
    """

    name = "webhooks update"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", type=int, help="as webhooks show prints it")
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


class RedeliverEvents(DocumentedCommand):
    """Sends the events that happened in a span of time to a webhook once more, with the same ids:
    for a receiver that lost them. New events are sent as usual at the same time.

    **When**: a receiver lost events that it had accepted. `--since` and `--until` (default: now)
    are times at which the events happened; their ids are the same as before. It stops at the first
    message that is refused. **Costs**: reads all changes from the day of `--since` on. **Stopping
    it**: run it again from the time of the last event.
    """

    name = "webhooks redeliver"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", type=int, help="as webhooks show prints it")
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
