"""`manage.py distrust_issuer`: ends the trust in an issuer of JWTs, and its tokens.

**When**: a key of the product was stolen, or the product leaves. It ends the trust and all tokens
that the issuer's JWTs gave. Accounts stay. **Stopping it**: killed, it has ended some of the
tokens; run it again.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.identities.actions.trust_issuer import distrust_issuer
from infra.api.errors import TidelineError
from infra.command_manual import DocumentedCommand
from infra.sharding.errors import NO_ANSWER


class Command(DocumentedCommand):
    help = "Ends the trust in an issuer of JWTs, and all tokens that it gave. Accounts stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("issuer", help="`iss` of its JWTs")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            ended = distrust_issuer(options["issuer"])
        except (TidelineError, *NO_ANSWER) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{ended} tokens ended")
