"""`manage.py create_account`: creates a user and their account, as sign-up does.

**When**: you need an account without a sign-up through an application; with `--superuser` the first
operator. It prints the account's id. Without `--password` it asks for one. Do not use Django's
`createsuperuser`: it creates a user without an account. `--display-name` is the name that pages
show. Only this command gives names of staff, such as `support`, and those of
[`RESERVED_USERNAMES`](../settings.md). **Costs**: half a second of CPU for the password.

```
$ manage.py create_account frida --email frida@example.com --superuser
Password:
403
$ manage.py create_account Bob --email b@example.com --password 12345
CommandError: Validation failed: Username has already been taken, Password is too short (minimum is 8 characters), Password is too common, Password consists of digits only
```
"""  # noqa: E501

from argparse import ArgumentParser
from datetime import UTC, datetime
from getpass import getpass
from typing import Any

from django.core.management.base import CommandError

from accounts.actions.sign_up import sign_up
from accounts.types import NewUser
from infra.api.errors import ValidationFailed
from infra.command_manual import DocumentedCommand


class Command(DocumentedCommand):
    help = "Creates a user and their account, and prints the account id."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="as in @username; letters, digits and _")
        parser.add_argument("--email", required=True, help="to sign in with")
        parser.add_argument(
            "--password", help="other users of this machine can see it; default: asks"
        )
        parser.add_argument("--display-name", default="", help="the name that pages show")
        parser.add_argument("--superuser", action="store_true", help="may do anything in the admin")

    def handle(self, *args: Any, **options: Any) -> None:
        new = NewUser(
            username=options["username"],
            email=options["email"],
            password=options["password"] or getpass("Password: "),
            display_name=options["display_name"],
            is_superuser=options["superuser"],
            is_by_operator=True,
        )
        try:
            account_id = sign_up(new, datetime.now(UTC))
        except ValidationFailed as error:
            raise CommandError(str(error)) from None
        self.stdout.write(str(account_id))
