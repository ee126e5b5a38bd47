"""`manage.py demo_token`: access tokens for experiments."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from operations.demo.community import FIRST_ACCOUNTS
from operations.demo.errors import DevelopmentOnly
from operations.demo.tokens import demo_token


class Command(BaseCommand):
    help = "Prints an access token with all scopes for each account. Needs DEVELOPMENT=1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="*", help=f"default: {FIRST_ACCOUNTS[0]}")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEVELOPMENT:
            raise DevelopmentOnly("demo_token")
        now = datetime.now(UTC)
        for username in options["username"] or FIRST_ACCOUNTS[:1]:
            self.stdout.write(demo_token(username, now))
