"""The names of API clients, which posts show. In process memory for a minute."""

from collections.abc import Mapping

from cachebox import TTLCache
from django.db import InterfaceError, OperationalError

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one

KEPT_S = 60
MOST_CLIENTS = 10_000
ONE = "SELECT name, website FROM accounts_application WHERE id = %s"
ClientName = Mapping[str, str | None]
_names: TTLCache[int, ClientName] = TTLCache(MOST_CLIENTS, KEPT_S)


def find_client_name(application_id: int) -> ClientName | None:
    """The `application` of a Status. None: it is not known, or its database does not answer.

    Cost: one query by key, once in KEPT_S.
    """
    found = _names.get(application_id)
    if found is None:
        try:
            row = fetch_one(GLOBAL_ALIAS, ONE, (application_id,))
        except (OperationalError, InterfaceError):
            return None
        if row is None:
            return None
        found = _names[application_id] = {"name": row[0], "website": row[1] or None}
    return found
