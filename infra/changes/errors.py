"""Errors of the change table, and the errors of stores that are out of reach."""

from django.db import InterfaceError, OperationalError

from infra.api.errors import TidelineError
from infra.caching.errors import REDIS_AWAY


class NotInTransaction(RuntimeError):
    """A change was appended outside a transaction on its own database."""


class UnknownKind(LookupError):
    """A change row names a kind that no installed app registered."""


class KindTaken(RuntimeError):
    """Two payload classes have the same kind, so rows of one would be read as the other."""


class ChangeReasonMissing(ValueError):
    """Discarding or parking changes and pausing a kind need a reason."""


class LeaseLost(RuntimeError):
    """Another drainer took this lane over. The batch stays pending for it."""


class WholeBatchFails(OperationalError):
    """All rows of this batch fail, because a store that they all need is out of reach."""


class EarlierFailed(OperationalError):
    """A change of the same post is tried again later. This one waits, so that it comes after it."""


class PositionTooOld(TidelineError):
    """Changes behind the position of a reader may have been dropped."""

    status = 410
    text = "Changes behind this position are no longer kept. Read everything again"
    code = "position_too_old"

    def body(self) -> dict[str, object]:
        return super().body() | {"code": self.code}


class PositionLost(PositionTooOld):
    """The database was restored, or a standby without the last changes was promoted."""

    text = "The site lost changes behind this position. Read everything again"
    code = "position_lost"


# A row that fails for a store out of reach waits. It is not parked.
UNREACHABLE = (OperationalError, InterfaceError, *REDIS_AWAY)
