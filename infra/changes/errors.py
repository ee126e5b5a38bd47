"""What can go wrong with changes."""

from django.db import InterfaceError, OperationalError
from redis.exceptions import ClusterDownError, MasterDownError, OutOfMemoryError, ReadOnlyError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError


class NotInTransaction(RuntimeError):
    """A change was appended outside a transaction on its own database."""


class UnknownKind(LookupError):
    """A change row names a kind that no installed app registered."""


class KindTaken(RuntimeError):
    """Two payloads claim one kind: rows of one would be read as the other."""


class ChangeReasonMissing(ValueError):
    """Changes are not thrown away, and kinds not paused, without saying why."""


class LeaseLost(RuntimeError):
    """Another drainer took this lane over; what was in hand stays pending for it."""


class WholeBatchFails(OperationalError):
    """What all rows of this batch need is out of reach: to look for the guilty one is in vain."""


# Does not answer, or refuses everybody's writes.
REDIS_AWAY = (
    RedisConnectionError,
    RedisTimeoutError,
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
)
# A store out of reach is never a row's own fault: such rows wait, they are not parked.
UNREACHABLE = (OperationalError, InterfaceError, *REDIS_AWAY)
