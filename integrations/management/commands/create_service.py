"""`manage.py create_service`: an application of the operator, with a token.

**When**: another system of yours shall read the change feed, or [ask and act for
accounts](../../how-to/put-tideline-behind-your-backend.md). It creates an application of the
operator, and prints `client_id`, `secret` and `token`, which are not shown again. `--scope` names
what it may do (default: `service:changes` and `service:relations`), `--quota` its requests in five
minutes, and `--bulk` that [people go
first](../../how-to/put-tideline-behind-your-backend.md#let-people-go-first). The admin lists it
under applications; delete it there to end its tokens. **Stopping it**: killed between its two
writes, it leaves an application without a token.

```
$ manage.py create_service "Search index"
client_id 2x5fW…
secret 8Zr1k…
token tl_9f3…
```
"""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError

from accounts.scopes import OF_SERVICES
from infra.api.errors import ValidationFailed
from infra.command_manual import DocumentedCommand
from integrations.actions.create_service import create_service

READS_OF_THE_SITE = "service:changes", "service:relations"


class Command(DocumentedCommand):
    help = (
        "Creates a service: an application of the operator, for the whole site or for any account."
        " Prints its client id, its secret and a token, which are not shown again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="as the admin shows it")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[*OF_SERVICES],
            help=f"what it may do; may be repeated; default: {' and '.join(READS_OF_THE_SITE)}",
        )
        parser.add_argument("--quota", type=int, help="requests in five minutes")
        parser.add_argument(
            "--bulk", action="store_true", help="people go first while the site is slow"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = options["scope"] or [*READS_OF_THE_SITE]
        if options["quota"] is not None and options["quota"] < 1:
            raise CommandError("--quota must be at least 1")
        now, quota, is_bulk = datetime.now(UTC), options["quota"], options["bulk"]
        try:
            made = create_service(options["name"], scopes, quota, now, is_bulk)
        except ValidationFailed as error:
            raise CommandError(str(error)) from None
        for name, value in made._asdict().items():
            self.stdout.write(f"{name} {value}")
