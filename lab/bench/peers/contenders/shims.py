"""The changes that Stream-Framework 1.4.0 (of 2017) needs on Python 3.11 and redis-py 8.

1. `feed_managers/base.py` has arguments called `async`, a keyword since Python 3.7: the module is
   compiled with them renamed.
2. `collections.Hashable` moved to `collections.abc`.
3. redis-py 3 renamed `BasePipeline`, and ZADD takes a mapping instead of score, member, score, …
4. It accepts only hosts and ports: its pool is replaced by one on the bench's socket.

Apart from 4 it behaves as on Python 3.6 and redis-py 2.10.
"""

import collections
import collections.abc
import importlib.util
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import redis
from django.conf import settings

MANAGER = "stream_framework.feed_managers.base"


def apply_shims() -> None:
    """Call it before Stream-Framework is imported. Safety: idempotent."""
    if MANAGER in sys.modules:
        return
    collections.Hashable = collections.abc.Hashable  # type: ignore[attr-defined]
    redis.client.BasePipeline = redis.client.Pipeline  # type: ignore[attr-defined]
    redis.client.Redis.zadd = _positional(redis.client.Redis.zadd)  # type: ignore[method-assign]
    _connect()
    _load_manager()


def _positional(zadd: Any) -> Any:
    def add(self: Any, name: str, *pairs: Any, **options: Any) -> Any:
        """Accepts today's arguments as well: Celery's broker in this process uses them."""
        if isinstance(pairs[0], Mapping):
            return zadd(self, name, *pairs, **options)
        return zadd(self, name, dict(zip(pairs[1::2], pairs[::2], strict=True)))

    return add


def _connect() -> None:
    connection = importlib.import_module("stream_framework.storage.redis.connection")
    connection.connection_pool = {
        "default": redis.ConnectionPool(
            connection_class=redis.UnixDomainSocketConnection,
            path=settings.REDIS_SOCKET,
            db=settings.REDIS_DB,
            decode_responses=True,
        )
    }


def _load_manager() -> None:
    importlib.import_module("stream_framework.feed_managers")
    spec = importlib.util.find_spec(MANAGER)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(MANAGER)
    module = importlib.util.module_from_spec(spec)
    sys.modules[MANAGER] = module
    source = re.sub(r"\basync\b", "is_async", Path(spec.origin).read_text())
    exec(compile(source, spec.origin, "exec"), module.__dict__)
