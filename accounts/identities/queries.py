"""Accounts by identity, and identities by account. One query by index each.

Finds accounts by the ids of another system.
"""

from collections.abc import Collection, Iterable

from cachebox import LRUCache
from django.db.models import Q

from accounts.identities.models import ExternalIdentity
from accounts.identities.types import OBJECTS, OWN_IDS, BoundAccount, ExternalId
from accounts.types import ServiceObject
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

TABLE = "identities_externalidentity"
# Default database. Parameter: a percentage of the rows, of which the objects are counted.
COUNT_OBJECTS = f"""
SELECT count(*) FROM {TABLE} TABLESAMPLE SYSTEM (%s) WHERE issuer LIKE '{OBJECTS}%%'
"""  # noqa: S608
_COLUMNS = "subject", "user_id", "user__username", "user__is_active"


def find_bound_account(identity: ExternalId) -> BoundAccount | None:
    """The account of this identity, None if it has none yet."""
    return next(iter(_load(**identity._asdict())), None)


def load_by_external_id(ids: Collection[str], issuer: str = OWN_IDS) -> dict[str, BoundAccount]:
    """The accounts of ids that services gave."""
    accounts = _load(issuer=issuer, subject__in=ids)
    return {account.subject: account for account in accounts}


def load_external_ids(account_ids: Iterable[int]) -> dict[int, BoundAccount]:
    """The ids that services gave to these accounts, by account."""
    accounts = _load(issuer=OWN_IDS, user__in=list(account_ids))
    return {account.account_id: account for account in accounts}


def load_names(account_ids: Iterable[int]) -> dict[int, str | ServiceObject]:
    """The ids that services gave to people, and what the accounts of things are: of those only kind
    and external id."""
    is_of_services = Q(issuer=OWN_IDS) | Q(issuer__startswith=OBJECTS)
    rows = ExternalIdentity.objects.filter(is_of_services, user__in=list(account_ids))
    return {
        account_id: ServiceObject(issuer.removeprefix(OBJECTS), subject) if issuer else subject
        for account_id, issuer, subject in rows.values_list("user_id", "issuer", "subject")
    }


def _load(**condition: object) -> list[BoundAccount]:
    rows = ExternalIdentity.objects.filter(**condition).values_list(*_COLUMNS)
    return [_account_of(*row) for row in rows]


def _account_of(subject: str, account_id: int, username: str, is_active: bool) -> BoundAccount:
    return BoundAccount(subject, account_id, username, is_suspended=not is_active)


LOAD = """
SELECT subject, user_id FROM identities_externalidentity
WHERE issuer = %s AND subject = ANY(%s::text[])
"""
# Of a long run; 200 bytes each.
MOST_REMEMBERED = 1_000_000


def load_account_ids(external_ids: Iterable[str], issuer: str = OWN_IDS) -> dict[str, int]:
    """Account ids by those of the external ids that are bound. One query by index."""
    wanted = list(dict.fromkeys(external_ids))
    return dict(fetch_all(GLOBAL_ALIAS, LOAD, (issuer, wanted))) if wanted else {}


class AccountDirectory:
    """Account ids by external id, for a run that asks for the same ones often.

    A binding never changes, so it is remembered; an unknown id is asked again.
    """

    def __init__(self, issuer: str = OWN_IDS) -> None:
        self._issuer = issuer
        self._ids: LRUCache[str, int] = LRUCache(MOST_REMEMBERED)

    def load(self, external_ids: Iterable[str]) -> dict[str, int]:
        """As `load_account_ids`; no query if all are remembered."""
        wanted = set(external_ids)
        known = {i: account for i in wanted if (account := self._ids.get(i)) is not None}
        asked = load_account_ids(wanted - known.keys(), self._issuer)
        self._ids.update(asked)
        return known | asked
