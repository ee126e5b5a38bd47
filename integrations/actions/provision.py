"""Makes an account what the product wants it to be: its profile, and whether it is active."""

from datetime import datetime
from typing import NamedTuple

from accounts.errors import AccountNotFound, AccountProtected
from accounts.identities.actions.provision_account import provision_account
from accounts.identities.errors import IdentityUnknown
from accounts.identities.queries.bound_accounts import find_bound_account
from accounts.identities.types import ExternalId, ProvisionedAccount, WantedAccount
from accounts.queries.users import is_staff
from moderation.actions.deactivate import activate_account, deactivate_account


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
