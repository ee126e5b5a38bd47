"""Finds accounts by the ids of another system."""

from collections.abc import Iterable

from cachebox import LRUCache

from accounts.identities.types import OWN_IDS
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

LOAD = """
SELECT subject, user_id FROM identities_externalidentity
WHERE tenant = %s AND issuer = %s AND subject = ANY(%s::text[])
"""
# Of a long run; 200 bytes each.
MOST_REMEMBERED = 1_000_000


def load_account_ids(tenant: int, external_ids: Iterable[str]) -> dict[str, int]:
    """Account ids by those of the external ids that are bound. One query by index."""
    wanted = list(dict.fromkeys(external_ids))
    return dict(fetch_all(GLOBAL_ALIAS, LOAD, (tenant, OWN_IDS, wanted))) if wanted else {}


class AccountDirectory:
    """Account ids by external id, for a run that asks for the same ones often.

    A binding never changes, so it is remembered; an unknown id is asked again.
    """

    def __init__(self, tenant: int) -> None:
        self._tenant = tenant
        self._ids: LRUCache[str, int] = LRUCache(MOST_REMEMBERED)

    def load(self, external_ids: Iterable[str]) -> dict[str, int]:
        """As `load_account_ids`; no query if all are remembered."""
        wanted = set(external_ids)
        known = {i: account for i in wanted if (account := self._ids.get(i)) is not None}
        asked = load_account_ids(self._tenant, wanted - known.keys())
        self._ids.update(asked)
        return known | asked
