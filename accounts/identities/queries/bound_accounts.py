"""Accounts by identity, and identities by account. One query by index each."""

from collections.abc import Collection, Iterable

from accounts.identities.models import ExternalIdentity
from accounts.identities.types import OWN_IDS, BoundAccount, ExternalId

_COLUMNS = "subject", "user_id", "user__username", "user__is_active"


def find_bound_account(identity: ExternalId) -> BoundAccount | None:
    """The account of this identity, None if it has none yet."""
    return next(iter(_load(**identity._asdict())), None)


def load_by_external_id(tenant: int, ids: Collection[str]) -> dict[str, BoundAccount]:
    """The accounts of ids that services gave."""
    accounts = _load(tenant=tenant, issuer=OWN_IDS, subject__in=ids)
    return {account.subject: account for account in accounts}


def load_external_ids(tenant: int, account_ids: Iterable[int]) -> dict[int, BoundAccount]:
    """The ids that services gave to these accounts, by account."""
    accounts = _load(tenant=tenant, issuer=OWN_IDS, user__in=list(account_ids))
    return {account.account_id: account for account in accounts}


def _load(**condition: object) -> list[BoundAccount]:
    rows = ExternalIdentity.objects.filter(**condition).values_list(*_COLUMNS)
    return [_account_of(*row) for row in rows]


def _account_of(subject: str, account_id: int, username: str, is_active: bool) -> BoundAccount:
    return BoundAccount(subject, account_id, username, is_suspended=not is_active)
