"""Errors of the change table, and the errors of stores that are out of reach."""

from django.db import InterfaceError, OperationalError

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


# A row that fails for a store out of reach waits. It is not parked.
UNREACHABLE = (OperationalError, InterfaceError, *REDIS_AWAY)
