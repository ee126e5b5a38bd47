"""Web servers connect through pools, and each pooled connection gets its rules."""

from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.pooled.fitness import require_fit
from infra.sharding.pooled.map_check import check_map_first
from infra.sharding.pooled.session_state import refuse_session_state


def use_pools() -> None:
    """This process connects by the pooled URLs, where there are any. Before the first connection.

    For web servers only: workers and commands need sessions that stay theirs.
    """
    for alias, entry in settings.POOLED_DATABASES.items():
        connections.databases[alias].update(entry)


def roles_of_pools(alias: str) -> list[str]:
    """The role of the pool of this database, whichever URL this process uses. One at most."""
    entry = settings.POOLED_DATABASES.get(alias)
    return [str(entry["USER"])] if entry else []


def guard_pooled_connection(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Receiver of connection_created. Raises PoolUnfit; the connection is closed then."""
    if not connection.settings_dict["OPTIONS"].get("is_pooled"):
        return
    try:
        require_fit(connection)
    except BaseException:
        connection.close()
        raise
    if refuse_session_state not in connection.execute_wrappers:
        connection.execute_wrappers.append(refuse_session_state)
        if connection.alias != GLOBAL_ALIAS:
            connection.execute_wrappers.append(check_map_first)
