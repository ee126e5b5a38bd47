"""The end of an account by the will of the product that provisioned it."""

from datetime import datetime

from accounts.errors import AccountNotFound, AccountProtected
from accounts.identities.errors import IdentityUnknown
from accounts.identities.queries.bound_accounts import find_bound_account
from accounts.identities.types import BoundAccount, ExternalId
from accounts.queries.users import is_staff
from moderation.actions.delete_own_account import delete_own_account


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
