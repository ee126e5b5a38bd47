"""The names of API clients, which posts show. In process memory for a minute."""

from collections.abc import Mapping, Sequence

from cachebox import TTLCache
from django.db import InterfaceError, OperationalError

from infra.caching.single_flight import SingleFlight
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one

KEPT_S = 60
MOST_CLIENTS = 10_000
ONE = "SELECT name, website FROM accounts_application WHERE id = %s"
ClientName = Mapping[str, str | None]
_names: TTLCache[int, ClientName] = TTLCache(MOST_CLIENTS, KEPT_S)
_loads: SingleFlight[int, ClientName] = SingleFlight()


def find_client_name(application_id: int) -> ClientName | None:
    """The `application` of a Status. None: it is not known, or its database does not answer.

    Cost: one query by key, once in KEPT_S, for all threads together.
    """
    name = _names.get(application_id)
    if name is not None:
        return name
    try:
        return _loads.load([application_id], _load).get(application_id)
    except (OperationalError, InterfaceError):
        return None


def _load(application_ids: Sequence[int]) -> dict[int, ClientName]:
    rows = {i: fetch_one(GLOBAL_ALIAS, ONE, (i,)) for i in application_ids}
    names: dict[int, ClientName] = {
        i: {"name": row[0], "website": row[1] or None} for i, row in rows.items() if row is not None
    }
    _names.update(names)
    return names
