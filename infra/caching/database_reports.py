"""What compensators saw of each database last: one JSON value each, in Redis.

So every web process can show it, and any compensator goes on where another stopped.
"""

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec

from infra.caching.client import redis
from infra.caching.keys import key

R = TypeVar("R", bound=msgspec.Struct)


class DatabaseReports(Generic[R]):
    """Of one kind. One that is lost is written again in a moment. All raise RedisError."""

    def __init__(self, family: str, kind: type[R], kept_s: int) -> None:
        self._family, self._kind, self._kept_s = family, kind, kept_s

    def read(self, aliases: Sequence[str]) -> dict[str, R]:
        """Of those databases that were looked at lately. One round trip."""
        replies = redis().run([("GET", key(self._family, alias)) for alias in aliases])
        return {
            alias: msgspec.json.decode(raw, type=self._kind)
            for alias, raw in zip(aliases, replies, strict=True)
            if raw is not None
        }

    def keep(self, alias: str, report: R) -> None:
        raw = msgspec.json.encode(report)
        redis().call("SET", key(self._family, alias), raw, "EX", self._kept_s)
