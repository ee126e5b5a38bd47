"""`manage.py distrust_issuer`: ends the trust in an issuer of JWTs, and its tokens."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.identities.actions.trust_issuer import distrust_issuer
from infra.api.errors import TidelineError
from infra.sharding.errors import NO_ANSWER


class Command(BaseCommand):
    help = "Ends the trust in an issuer of JWTs, and all tokens that it gave. Accounts stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("issuer", help="`iss` of its JWTs")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            ended = distrust_issuer(options["issuer"])
        except (TidelineError, *NO_ANSWER) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{ended} tokens ended")
