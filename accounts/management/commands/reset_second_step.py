"""`manage.py reset_second_step`: for the time when no operator can open the admin any more.

**When**: a person lost the app, the passkeys and the recovery codes of their [second
step](../../how-to/protect-sign-in-with-a-second-step.md), and no operator can open the admin. It
ends the second step and all sessions of the person, who then signs in with the password. `--reason`
is written to the log. Safe to repeat. `--dry-run` only says whether there is one. **Costs**: ten
short statements, and five for each session.

```
$ manage.py reset_second_step frida --reason "lost her phone, called us back"
@frida: reset
```
"""

from argparse import ArgumentParser
from typing import Any

import structlog
from django.core.management.base import CommandError

from accounts.models import User
from accounts.second_step.actions.remove_device import reset_second_step
from accounts.second_step.queries.devices import has_second_step
from infra.command_manual import DocumentedCommand

log = structlog.get_logger()


class Command(DocumentedCommand):
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
