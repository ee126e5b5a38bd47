"""Creates an application of the operator, whose own token may do what no account's token may."""

from datetime import datetime
from typing import NamedTuple

from accounts.actions.register_application import NAME_LENGTH
from accounts.actions.tokens import issue_token
from accounts.models import Application
from accounts.scopes import OF_SERVICES
from infra.api.errors import Fault, ValidationFailed


class CreatedService(NamedTuple):
    """`secret` and `token` are shown once: the site keeps checksums. The token ends after a year;
    the service gets another one with its id and secret (`grant_type=client_credentials`)."""

    client_id: str
    secret: str
    token: str


def create_service(
    name: str, scopes: list[str], quota: int | None, now: datetime, is_bulk: bool = False
) -> CreatedService:
    """`quota`: requests in five minutes; None: the default of applications. `is_bulk`: people go
    first while the site is slow.

    Raises: ValidationFailed. Two inserts on the default database; killed between them, the
    application has no token yet.
    """
    _check(name, scopes)
    application = Application(
        name=name,
        scopes=" ".join(scopes),
        quota=quota,
        is_bulk=is_bulk,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS,
    )
    secret = application.client_secret  # save() hashes it
    application.save(force_insert=True)
    issued = issue_token(None, application.pk, application.scopes, now)
    return CreatedService(application.client_id, secret, issued.token)


def _check(name: str, scopes: list[str]) -> None:
    faults = []
    if not 0 < len(name.strip()) <= NAME_LENGTH:
        faults.append(Fault("name", "ERR_INVALID", f"must have 1 to {NAME_LENGTH} characters"))
    if not scopes or not OF_SERVICES.keys() >= set(scopes):
        faults.append(Fault("scopes", "ERR_INVALID", f"must be of {', '.join(OF_SERVICES)}"))
    if faults:
        raise ValidationFailed(faults)
