"""What a product does with accounts that it provisions, and the service that does it.

Creates an application of the operator, whose own token may do what no account's token may.

Makes an account what the product wants it to be: its profile, and whether it is active.

The end of an account by the will of the product that provisioned it.
"""

from datetime import datetime
from typing import NamedTuple

from accounts.actions.register_application import NAME_LENGTH
from accounts.actions.tokens import issue_token
from accounts.errors import AccountNotFound, AccountProtected
from accounts.identities.actions.provision_account import provision_account
from accounts.identities.errors import IdentityUnknown
from accounts.identities.queries import find_bound_account
from accounts.identities.types import BoundAccount, ExternalId, ProvisionedAccount, WantedAccount
from accounts.models import Application
from accounts.queries.users import is_staff
from accounts.scopes import OF_SERVICES
from infra.api.errors import Fault, ValidationFailed
from moderation.actions.by_owner import activate_account, deactivate_account, delete_own_account


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


class WantedState(NamedTuple):
    """What a service sent. `is_active` None: as it is."""

    account: WantedAccount
    is_active: bool | None = None


def provision(identity: ExternalId, wanted: WantedState, now: datetime) -> ProvisionedAccount:
    """As `provision_account`; activates the account first, or deactivates it.

    Killed in between, an account is active or not, and a repeated call does the rest. Of an
    account that is deactivated again, nothing else changes. Raises: as `provision_account`;
    IdentityUnknown for an account that shall be inactive and was never created; LoginDisabled for
    one that moderators suspended; AccountProtected. Cost: that of `provision_account`, a query, and
    about ten statements if that changes.
    """
    if wanted.is_active is None:
        return provision_account(identity, wanted.account, now)
    known = find_bound_account(identity)
    if wanted.is_active:
        if known is not None and known.is_suspended:
            activate_account(known.account_id, now)
        return provision_account(identity, wanted.account, now)
    if known is None:
        raise IdentityUnknown
    if is_staff(known.account_id):
        raise AccountProtected
    try:
        deactivate_account(known.account_id, now)
    except AccountNotFound:  # an operator deleted the user in this moment
        raise IdentityUnknown from None
    return ProvisionedAccount(known._replace(is_suspended=True), is_new=False)


def delete_account(identity: ExternalId, now: datetime) -> BoundAccount:
    """Begins what the person's own deletion begins. The id keeps naming the account.

    Safety: may be repeated. Raises: IdentityUnknown; AccountProtected for moderators and operators.
    Cost: three queries, and as delete_own_account.
    """
    account = find_bound_account(identity)
    if account is None:
        raise IdentityUnknown
    if is_staff(account.account_id):
        raise AccountProtected
    try:
        delete_own_account(account.account_id, now)
    except AccountNotFound:  # an operator deleted the user in this moment
        raise IdentityUnknown from None
    return account._replace(is_suspended=True)
