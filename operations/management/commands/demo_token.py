"""`manage.py demo_token`: access tokens for experiments."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from infra.verbs import DocumentedCommand
from operations.demo.community import FIRST_ACCOUNTS
from operations.demo.errors import DevelopmentOnly
from operations.demo.load import demo_token


class Command(DocumentedCommand):
    """Prints an access token with all scopes for each account. Needs DEVELOPMENT=1.

    **When**: to get access tokens for experiments, one line per name, by default for `ann`. A token
    has all scopes and is valid for a year. The command accepts any account, so it needs
    `DEVELOPMENT=1`. Tokens are ended in `/admin/`.

    ```
    $ manage.py demo_token ann bob
    fkHYYLSc61wnT_2Pyetl2uY2jMqcN_1uixiepGOZUSk
    DiVFNexEb7G6IIGmRLsiiDyofMFOsf6YEcPeB1LJ24E
    ```
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="*", help=f"default: {FIRST_ACCOUNTS[0]}")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEVELOPMENT:
            raise DevelopmentOnly("demo_token")
        now = datetime.now(UTC)
        for username in options["username"] or FIRST_ACCOUNTS[:1]:
            self.stdout.write(demo_token(username, now))
