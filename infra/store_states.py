"""The states in which an operator can meet a database or Redis. Each has one name everywhere: in
/health/ready, show_status, the metric `tideline_store_state`, the logs, an alert, and a chapter of
docs/how-to/when-a-store-fails.md.
"""

from collections.abc import Iterator
from enum import StrEnum

import psycopg
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError


class StoreState(StrEnum):
    """The value is what people read; `label` is what metrics and logs have."""

    OK = "ok"
    SLOW = "slow"
    UNREACHABLE = "unreachable"
    HANGS = "hangs"
    UNUSABLE = "unusable"
    DISK_FULL = "refuses writes: its disk is full"
    READ_ONLY = "refuses writes: it is read-only"
    MEMORY_FULL = "refuses writes: its memory is full"
    CANNOT_SAVE = "refuses writes: it cannot save its data"
    LACKS_REPLICAS = "refuses writes: too few replicas answer"

    @property
    def label(self) -> str:
        return self.name.lower()

    @property
    def refuses_writes(self) -> bool:
        return self.value.startswith("refuses writes")

    @property
    def is_usable(self) -> bool:
        """Reads and writes go on."""
        return self in (StoreState.OK, StoreState.SLOW)


# A store that needs longer for a short question is slow.
SLOW_S = 0.5
_BY_SQLSTATE = {"53100": StoreState.DISK_FULL, "25006": StoreState.READ_ONLY}
_BY_CLASS: tuple[tuple[type[BaseException], StoreState], ...] = (
    (psycopg.errors.ConnectionTimeout, StoreState.HANGS),
    (RedisTimeoutError, StoreState.HANGS),
    (OutOfMemoryError, StoreState.MEMORY_FULL),
    (ReadOnlyError, StoreState.READ_ONLY),
)
# The first word of a refusal by Redis.
_BY_WORD = {
    "OOM": StoreState.MEMORY_FULL,
    "READONLY": StoreState.READ_ONLY,
    "MISCONF": StoreState.CANNOT_SAVE,
    "NOREPLICAS": StoreState.LACKS_REPLICAS,
}


def state_of(error: BaseException) -> StoreState:
    """What an error of a store, or its cause, says about the store. UNREACHABLE if it says little.

    An error class of ours can name the state itself, as `store_state`.
    """
    return next(filter(None, map(_state_of, _causes(error))), StoreState.UNREACHABLE)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _state_of(error: BaseException) -> StoreState | None:
    if state := getattr(error, "store_state", None):
        return StoreState(state)
    if state := _BY_SQLSTATE.get(getattr(error, "sqlstate", None) or ""):
        return state
    if isinstance(error, RedisError) and (state := _BY_WORD.get(str(error).partition(" ")[0])):
        return state
    return next((state for kind, state in _BY_CLASS if isinstance(error, kind)), None)
