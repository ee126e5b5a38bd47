"""`manage.py trust_issuer`: lets a product say by JWTs who its people are.

**When**: your product shall [sign people in by
JWTs](../../how-to/let-your-product-sign-people-in.md). It says which keys sign them and what their
tokens may do, in one transaction. Run it again to change that. A private key, a symmetric algorithm
and an address in a private network are refused.

```
$ manage.py trust_issuer https://product.example --name Product --keys keys.json --algorithm ES256
```
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.identities.actions.trust_issuer import trust_issuer
from accounts.identities.types import ASSERTION_ALGORITHMS, NewIssuer
from accounts.scopes import BROAD
from infra.api.errors import ValidationFailed
from infra.command_manual import DocumentedCommand
from infra.sharding.errors import NO_ANSWER

SCOPES = "read", "write", "follow", "push"


class Command(DocumentedCommand):
    help = (
        "Trusts an issuer of JWTs: each gives its person a token of an hour. Run it again to change"
        " what it says; tokens stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("issuer", help="`iss` of its JWTs, such as https://product.example")
        parser.add_argument("--name", required=True, help="as posts name the application")
        keys = parser.add_mutually_exclusive_group(required=True)
        keys.add_argument("--keys", type=Path, help="file with its public keys, a JWK set")
        keys.add_argument("--keys-url", default="", help="https address of its JWK set")
        parser.add_argument(
            "--algorithm",
            action="append",
            choices=ASSERTION_ALGORITHMS,
            required=True,
            help="of signatures; may be repeated",
        )
        parser.add_argument("--audience", default="", help="`aud`; default: PUBLIC_URL")
        parser.add_argument(
            "--own-subjects",
            action="store_true",
            help="its subjects are not the external ids that services give",
        )
        parser.add_argument(
            "--create-accounts", action="store_true", help="for subjects that have none"
        )
        parser.add_argument(
            "--scope",
            action="append",
            choices=[*BROAD],
            help=f"of its tokens; may be repeated; default: {' '.join(SCOPES)}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            trust_issuer(_issuer_of(options))
        except (ValidationFailed, OSError, UnicodeDecodeError, *NO_ANSWER) as error:
            raise CommandError(str(error)) from None


def _issuer_of(options: dict[str, Any]) -> NewIssuer:
    """Raises: OSError, UnicodeDecodeError if the file cannot be read."""
    return NewIssuer(
        name=options["name"],
        issuer=options["issuer"],
        audience=options["audience"],
        algorithms=options["algorithm"],
        keys=options["keys"].read_text() if options["keys"] else None,
        keys_url=options["keys_url"],
        has_own_ids=not options["own_subjects"],
        may_create=options["create_accounts"],
        scopes=options["scope"] or SCOPES,
    )
