"""Services that act for accounts: their own token, and a header that names the account."""

import msgspec

from accounts.cache import find_actor
from accounts.errors import AccountNotFound, AccountProtected, LoginDisabled
from accounts.queries.profiles import ActorFacts
from accounts.queries.users import is_staff
from accounts.scopes import FOR_ACCOUNTS, scopes_for_accounts
from accounts.types import Viewer
from infra.api.errors import InvalidRequest, ScopeMissing
from infra.api.ids import parse_account_id
from infra.changes.errors import UNREACHABLE

HEADER = "Tideline-Account"


def act_for(service: Viewer, sent: str) -> Viewer:
    """The viewer of a request that a service makes for an account. `sent`: the header's value.

    Raises: ScopeMissing, InvalidRequest, and as `require_actor`. Cost: of `find_actor`.
    """
    scopes = scopes_for_accounts(service.scopes)
    if service.account_id is not None or not scopes:
        raise ScopeMissing(*FOR_ACCOUNTS)
    account_id = parse_account_id(sent)
    if account_id is None:
        raise InvalidRequest(f"{HEADER} must be the id of an account")
    facts = require_actor(account_id)
    return msgspec.structs.replace(
        service,
        account_id=account_id,
        scopes=scopes,
        is_frozen=facts.is_frozen,
        is_acted_for=True,
    )


def require_actor(account_id: int) -> ActorFacts:
    """The facts of an account that services may act for.

    Raises: AccountNotFound, LoginDisabled, AccountProtected. Cost: of `find_actor`, and a query of
    the default database by primary key.
    """
    facts = find_actor(account_id)
    if facts is None:
        raise AccountNotFound
    if facts.is_suspended:
        raise LoginDisabled
    if facts.is_staff or _has_rights_now(account_id):
        raise AccountProtected
    return facts


def _has_rights_now(account_id: int) -> bool:
    """A program may have given the account rights, and nothing tells the cache of that. While the
    default database is away none can be given."""
    try:
        return is_staff(account_id)
    except UNREACHABLE:
        return False
