"""Calls that meet a move (operations/moves): the shard refuses them by a code.

Statements whose plans a session keeps, and sessions whose plans a migration has made useless.
"""

from types import TracebackType

import psycopg
from django.db import OperationalError
from django.db.utils import DatabaseErrorWrapper
from prometheus_client import Counter
from psycopg.errors import FeatureNotSupported

from infra.moving import AccountMoving, is_in_read
from infra.sharding.bounded.ended_sessions import has_done_nothing, is_end, is_unclear
from infra.sharding.errors import RequestTooLong
from infra.sharding.map_copy import MapCopy
from infra.store_states import state_of

# A session prepares a statement after so many calls. Many sessions make fewer of some statements.
PREPARED_AFTER = 5
# In a session. There are fewer statements, but one with small numbers counts as another one.
MOST_PREPARED = 300
CHANGED = "a migration changed what this statement returns: try again"


class PlansRenewed(DatabaseErrorWrapper):
    """Ends a session that keeps the plan of a statement whose columns have other types now.

    This call fails as if the database had gone away, and the next one gets a new session.
    """

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(exc_value, FeatureNotSupported) and "cached plan" in str(exc_value):
            self.wrapper.close()  # type: ignore[attr-defined]
            raise OperationalError(CHANGED) from exc_value
        super().__exit__(exc_type, exc_value, traceback)


# The SQLSTATE that the guard raises. No code of PostgreSQL begins with T.
MOVING_CODE = "TL001"
# A pooled connection asks whether its database knows a later map (pooled/map_check.py). This is the
# failed cast of a text that begins so.
REFUSED_CODE, LATER_MAP = "22P02", "tideline map"
# The begins of codes that say that the database is away or takes no writes.
AWAY_CODES = ("08", "53", "57P", "58", "25006")
FAILURES = Counter(
    "tideline_database_failures_total",
    "Uses of a database that failed because it was away or took no writes",
    ["shard", "state"],
)


class MovesNoticed(PlansRenewed):
    """The call fails with AccountMoving, and the map is read again before its next use."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        count_failure(self.wrapper.alias, exc_value)  # type: ignore[attr-defined]
        code = getattr(exc_value, "sqlstate", None)
        is_refused = code == REFUSED_CODE and LATER_MAP in str(exc_value)
        if is_refused:
            # Before the next statement the new connection says which database it leads to.
            self.wrapper.close()  # type: ignore[attr-defined]
        if code == MOVING_CODE or is_refused:
            MapCopy.doubt()
        if code == MOVING_CODE or is_refused or self._may_begin_again(exc_value):
            raise AccountMoving(str(exc_value)) from exc_value
        if is_unclear(exc_value):
            raise OperationalError(str(exc_value)) from exc_value
        super().__exit__(exc_type, exc_value, traceback)

    def _may_begin_again(self, error: BaseException | None) -> bool:
        """A move ends idle sessions. One may get a statement at this very moment."""
        is_pooled = bool(self.wrapper.settings_dict["OPTIONS"].get("is_pooled"))  # type: ignore[attr-defined]
        return has_done_nothing(error, is_pooled) or (is_end(error) and is_in_read())


def count_failure(alias: str, error: BaseException | None) -> None:
    """Counts an error that says something about the database, and not about the statement."""
    if not isinstance(error, psycopg.Error) or isinstance(error, RequestTooLong):
        return
    is_about_connection = isinstance(error, psycopg.OperationalError) and not error.sqlstate
    if is_about_connection or (error.sqlstate or "").startswith(AWAY_CODES):
        FAILURES.labels(alias, state_of(error).label).inc()
