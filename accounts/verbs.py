"""Commands about accounts that operators make, import, check and help."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime
from getpass import getpass
from typing import Any

import structlog
from django.core.management.base import CommandError

from accounts.actions.sign_up import sign_up
from accounts.jobs.audit_accounts import judge_accounts, judge_users, walk_users
from accounts.jobs.import_accounts import write_accounts
from accounts.models import User
from accounts.second_step.actions import reset_second_step
from accounts.second_step.queries import has_second_step
from accounts.sql import ACCOUNT_NAMES
from accounts.types import NewUser
from infra.api.errors import ValidationFailed
from infra.importing.command import ImportCommand
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import AccountRecord
from infra.jobs.audit import AuditCommand, Derived
from infra.verbs import DocumentedCommand

log = structlog.get_logger()


class AuditAccounts(AuditCommand):
    """Compares the users of the default database with the accounts of the shards.

    **When**: after a shard or the default database was [restored](../../how-to/back-up.md), or
    changes were discarded. It compares the users of the default database with the accounts of the
    shards. Each difference is a line and a failed row. `--repair` repairs them:

    - *a user has no account*: the account is created, with an empty profile. Its tokens work again.
    - *a user has other restrictions than the account*: the account gets those of the user.
    - *an account has no user*: the default database was restored. A user with that name and id is
      created, who cannot sign in until an operator sets an e-mail address. If another user has the
      name, the line stays.
    - *the id of an account would be given to a new user*: the default database continues with
      higher ids.

    An account with newer restrictions than its user is named only: a moderator has to decide again.
    **Costs**: four queries for 500 users or accounts.

    ```
    $ manage.py audit accounts
    account 45: user @bob has no account
    account 46: @cyd has no user
    798 rows done, 2 failed
    ```
    """

    name = "audit accounts"
    has_total = True
    passes = (
        Derived(ACCOUNT_NAMES, judge_users, walk_users),
        Derived(ACCOUNT_NAMES, judge_accounts),
    )


class CreateAccount(DocumentedCommand):
    """Creates a user and their account, and prints the account id.

    **When**: you need an account without a sign-up through an application; with `--superuser` the
    first operator. It prints the account's id. Without `--password` it asks for one. Do not use
    Django's `createsuperuser`: it creates a user without an account. `--display-name` is the name
    that pages show. Only this command gives names of staff, such as `support`, and those of
    [`RESERVED_USERNAMES`](../settings.md). **Costs**: half a second of CPU for the password.

    ```
    $ manage.py accounts create frida --email frida@example.com --superuser
    Password:
    403
    $ manage.py accounts create Bob --email b@example.com --password 12345
    CommandError: Validation failed: Username has already been taken, Password is too short (minimum is 8 characters), Password is too common, Password consists of digits only
    ```
    """  # noqa: E501

    name = "accounts create"

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


class ImportAccounts(ImportCommand):
    """Creates the accounts in a file of another system, with their dates and without passwords. The
    same file again changes nothing.

    **When**: before the other two. It creates a user and an account for each id that is not bound
    yet, without a password: people choose one by "forgotten password", so each needs an e-mail
    address. It changes no account that exists, also if the other system's profile has changed.
    **Costs**: three statements on the default database for 1,000 lines.

    ```
    $ manage.py import accounts accounts.jsonl --refused refused.jsonl
    line 4: the username or the e-mail address is taken
    20,000 lines done, 19,999 changed, 1 failed
    ```
    """

    name = "import accounts"
    record = AccountRecord
    batch_size = 1_000

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return write_accounts(records, datetime.now(UTC), dry_run)


class ResetSecondStep(DocumentedCommand):
    """Removes a person's authenticator app, passkeys and recovery codes, and signs them out
    everywhere. They sign in with the password alone and can add new ones.

    **When**: a person lost the app, the passkeys and the recovery codes of their [second
    step](../../how-to/protect-sign-in-with-a-second-step.md), and no operator can open the admin.
    It ends the second step and all sessions of the person, who then signs in with the password.
    `--reason` is written to the log. Safe to repeat. `--dry-run` only says whether there is one.
    **Costs**: ten short statements, and five for each session.

    ```
    $ manage.py accounts reset-second-step frida --reason "lost her phone, called us back"
    @frida: reset
    ```
    """

    name = "accounts reset-second-step"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="as in @username")
        parser.add_argument("--reason", required=True, help="why; it is written to the log")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["username"].removeprefix("@").lower()
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"no user has the name {name}")
        if options["dry_run"]:
            self._say(name, has_second_step(user.pk), "would be reset")
            return
        is_reset = reset_second_step(user.pk)
        if is_reset:
            log.info("second_step.reset", username=name, reason=options["reason"])
        self._say(name, is_reset, "reset")

    def _say(self, name: str, is_there: bool, what: str) -> None:
        self.stdout.write(f"@{name}: {what if is_there else 'has no second step'}")
