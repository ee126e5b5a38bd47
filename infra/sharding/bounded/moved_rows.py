"""Writes that meet the guard of a move (operations/moves): the shard refuses them by a code."""

from types import TracebackType

from infra.moving import AccountMoving
from infra.sharding.bounded.plans import PlansRenewed
from infra.sharding.map_copy import MapCopy

# The SQLSTATE that the guard raises. No code of PostgreSQL begins with T.
MOVING_CODE = "TL001"


class MovesNoticed(PlansRenewed):
    """The write fails with AccountMoving, and the map is read again before its next use."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if getattr(exc_value, "sqlstate", None) == MOVING_CODE:
            MapCopy.doubt()
            raise AccountMoving(str(exc_value)) from exc_value
        super().__exit__(exc_type, exc_value, traceback)
