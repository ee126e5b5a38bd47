"""Undecodable entries of Redis: of another layout, of another type, or cut off. They are misses.

All caches decode by `decode`. Where Redis itself or a script cannot use an entry, the client
deletes it and runs the command again (client.py). Both are counted and logged here.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog
from prometheus_client import Counter
from redis.exceptions import RedisError

from infra.caching.metrics import family_name
from infra.evidence import Command, parts_of
from infra.telemetry.reached_branches import reached

R = TypeVar("R")
T = TypeVar("T")

UNDECODABLE = Counter(
    "tideline_cache_undecodable_total",
    "Entries that could not be read and became misses",
    ["family"],
)
# One line a family and time. The metric counts all.
LOG_EVERY_S = 60
# How the errors begin that mean: the entry has another type, or content that a script cannot read.
UNUSABLE = ("WRONGTYPE", "user_script", "value is not", "hash value is not")
SCRIPT_CALLS = ("EVALSHA", "EVAL")
_logged_at: dict[str, float] = {}
log = structlog.get_logger()


def decode(family: str, read: Callable[[R], T], raw: R | None) -> T | None:
    """The decoded entry. None: there is none, or it is undecodable: load it from the source."""
    if raw is None:
        return None
    try:
        return read(raw)
    except Exception as error:
        report_undecodable(family, error)
        return None


def report_undecodable(family: str | bytes, error: object) -> None:
    """Counts an entry that could not be read, and logs it unless one of the family was lately.

    `family`: or a key of it.
    """
    text = family if isinstance(family, str) else family.decode(errors="replace")
    name, now = family_name(text), time.monotonic()
    reached("cache.undecodable")
    UNDECODABLE.labels(name).inc()
    if now - _logged_at.get(name, float("-inf")) > LOG_EVERY_S:
        _logged_at[name] = now
        log.warning("cache.undecodable", family=name, error=str(error))


def is_unusable(reply: object) -> bool:
    """Whether a reply says that Redis or a script could not use an entry."""
    return isinstance(reply, RedisError) and str(reply).startswith(UNUSABLE)


def keys_of(command: Command) -> Sequence[bytes]:
    """The keys of a script call, or the one key of another command."""
    name, *others = parts_of(command)
    return others[2 : 2 + int(others[1])] if name in SCRIPT_CALLS else others[:1]
