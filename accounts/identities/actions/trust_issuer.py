"""Trusts the JWTs of a product, and ends that."""

import orjson
from django.conf import settings
from django.db import transaction

from accounts.actions.register_application import NAME_LENGTH
from accounts.actions.tokens import delete_application
from accounts.identities.issuer_keys import parse_keys
from accounts.identities.models import LONGEST_ISSUER, TrustedIssuer
from accounts.identities.types import ASSERTION_ALGORITHMS, OBJECTS, NewIssuer
from accounts.models import Application
from accounts.scopes import unknown_scopes
from infra.api.errors import Fault, NotFound, ValidationFailed
from infra.outgoing.addresses import is_endpoint
from infra.sharding.placement import GLOBAL_ALIAS


class IssuerUnknown(NotFound):
    """There is no trusted issuer with this name."""

    text = "There is no trusted issuer with this name"


def trust_issuer(new: NewIssuer) -> TrustedIssuer:
    """Trusts an issuer, or replaces all that was said of it before. Its tokens stay.

    Raises: ValidationFailed. One transaction on the default database.
    """
    if faults := _faults(new):
        raise ValidationFailed(faults)
    with transaction.atomic(using=GLOBAL_ALIAS):
        row = TrustedIssuer.objects.filter(issuer=new.issuer).first()
        application = _write_application(row, new)
        row = row or TrustedIssuer(issuer=new.issuer)
        row.application = application
        row.audience = new.audience or settings.PUBLIC_URL
        row.algorithms = list(new.algorithms)
        row.keys = None if new.keys is None else orjson.loads(parse_keys(new.keys).export())
        row.keys_url = new.keys_url
        row.has_own_ids, row.may_create = new.has_own_ids, new.may_create
        row.save()
    return row


def distrust_issuer(issuer: str) -> int:
    """Ends the trust and all tokens that it gave; returns how many. Accounts stay.

    Raises: IssuerUnknown. Cost: about five statements a token.
    """
    row = TrustedIssuer.objects.select_related("application").filter(issuer=issuer).first()
    if row is None:
        raise IssuerUnknown
    return delete_application(row.application)


def _write_application(row: TrustedIssuer | None, new: NewIssuer) -> Application:
    """Posts name it. It has a secret that no client knows, so it gets tokens by JWTs only."""
    application = row.application if row else Application()
    application.name, application.scopes = new.name, " ".join(new.scopes)
    application.client_type = Application.CLIENT_CONFIDENTIAL
    application.authorization_grant_type = Application.GRANT_CLIENT_CREDENTIALS
    application.save()
    return application


def _faults(new: NewIssuer) -> list[Fault]:
    checks = {
        ("name", f"must have 1 to {NAME_LENGTH} characters"): (
            0 < len(new.name.strip()) <= NAME_LENGTH
        ),
        ("issuer", f"must have 1 to {LONGEST_ISSUER} characters"): (
            0 < len(new.issuer) <= LONGEST_ISSUER
        ),
        ("issuer", f"must not begin with {OBJECTS}"): not new.issuer.startswith(OBJECTS),
        ("audience", "is too long"): len(new.audience) <= LONGEST_ISSUER,
        ("algorithms", f"must be of {', '.join(ASSERTION_ALGORITHMS)}"): (
            bool(new.algorithms) and {*new.algorithms} <= {*ASSERTION_ALGORITHMS}
        ),
        ("keys", "must be a JWK set of public keys, or a public https address of one"): (
            _has_keys(new)
        ),
        ("scopes", "are unknown"): bool(new.scopes) and not unknown_scopes(" ".join(new.scopes)),
    }
    return [
        Fault(field, "ERR_INVALID", text) for (field, text), holds in checks.items() if not holds
    ]


def _has_keys(new: NewIssuer) -> bool:
    if new.keys is None:
        return is_endpoint(new.keys_url)
    try:
        parse_keys(new.keys)
    except ValueError:
        return False
    return not new.keys_url
