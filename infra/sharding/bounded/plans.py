"""Statements whose plans a session keeps, and sessions whose plans a migration has made useless."""

from types import TracebackType

from django.db import OperationalError
from django.db.utils import DatabaseErrorWrapper
from psycopg.errors import FeatureNotSupported

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
