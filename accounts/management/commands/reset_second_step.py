"""`manage.py reset_second_step`: for the time when no operator can open the admin any more."""

from argparse import ArgumentParser
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from accounts.second_step.actions.remove_device import reset_second_step
from accounts.second_step.queries.devices import has_second_step

log = structlog.get_logger()


class Command(BaseCommand):
    help = (
        "Removes a person's authenticator app, passkeys and recovery codes, and signs them out"
        " everywhere. They sign in with the password alone and can add new ones."
    )

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
