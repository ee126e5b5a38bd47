"""Commands on services and issuers of JWTs."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.identities.actions.trust_issuer import distrust_issuer, trust_issuer
from accounts.identities.types import ASSERTION_ALGORITHMS, NewIssuer
from accounts.scopes import BROAD, OF_SERVICES
from infra.api.errors import TidelineError, ValidationFailed
from infra.sharding.errors import NO_ANSWER
from infra.verbs import DocumentedCommand
from integrations.actions import create_service

READS_OF_THE_SITE = "service:changes", "service:relations"
SCOPES = "read", "write", "follow", "push"


class CreateService(DocumentedCommand):
    """Creates a service: an application of the operator, for the whole site or for any account.
    Prints its client id, its secret and a token, which are not shown again.

    **When**: another system of yours shall read the change feed, or [ask and act for
    accounts](../../how-to/put-tideline-behind-your-backend.md). It creates an application of the
    operator, and prints `client_id`, `secret` and `token`, which are not shown again. `--scope`
    names what it may do (default: `service:changes` and `service:relations`), `--quota` its
    requests in five minutes, and `--bulk` that [people go
    first](../../how-to/put-tideline-behind-your-backend.md#let-people-go-first). The admin lists it
    under applications; delete it there to end its tokens. **Stopping it**: killed between its two
    writes, it leaves an application without a token.

    ```
    $ manage.py services create "Search index"
    client_id 2x5fW…
    secret 8Zr1k…
    token tl_9f3…
    ```
    """

    name = "services create"

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


class TrustIssuer(DocumentedCommand):
    """Trusts an issuer of JWTs: each gives its person a token of an hour. Run it again to change
    what it says; tokens stay.

    **When**: your product shall [sign people in by
    JWTs](../../how-to/let-your-product-sign-people-in.md). It says which keys sign them and what
    their tokens may do, in one transaction. Run it again to change that. A private key, a symmetric
    algorithm and an address in a private network are refused.

    ```
    $ manage.py issuers trust https://product.example --name Product --keys keys.json --algorithm ES256
    ```
    """  # noqa: E501

    name = "issuers trust"

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


class DistrustIssuer(DocumentedCommand):
    """Ends the trust in an issuer of JWTs, and all tokens that it gave. Accounts stay.

    **When**: a key of the product was stolen, or the product leaves. It ends the trust and all
    tokens that the issuer's JWTs gave. Accounts stay. **Stopping it**: killed, it has ended some of
    the tokens; run it again.
    """

    name = "issuers distrust"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("issuer", help="`iss` of its JWTs")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            ended = distrust_issuer(options["issuer"])
        except (TidelineError, *NO_ANSWER) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{ended} tokens ended")
