"""Searches that a database broke off a moment ago. The same one would cost it the same again."""

import time
from collections.abc import Sequence
from typing import Any

from django.db import OperationalError
from psycopg.errors import QueryCanceled
from xxhash import xxh3_128_digest

from infra.caching.short_lived import ShortLived
from infra.clock import now_ms
from infra.sharding.sql import fetch_all

# Of this process.
MOST, TTL_MS = 1_000, 10_000
# A search that had less time may have been cheap: its request was late.
COSTLY_S = 0.5
_COSTLY: ShortLived[bytes, bool] = ShortLived(MOST, TTL_MS, lambda _: 1)


class SearchTooCostly(OperationalError):
    """Not asked again so soon."""


def search_once(alias: str, sql: str, params: dict[str, Any], asked: object) -> Sequence[Any]:
    """The rows. `asked`: the search as its value, without the size of its page.

    Raises: OperationalError, at once for TTL_MS after the same search was broken off.
    """
    key = xxh3_128_digest(repr((alias, asked)).encode("utf-8", "surrogatepass"))
    if _COSTLY.get(key, now_ms()):
        raise SearchTooCostly("This search was broken off a moment ago")
    begin = time.monotonic()
    try:
        return fetch_all(alias, sql, params)
    except OperationalError as error:
        was_costly = time.monotonic() - begin >= COSTLY_S
        if was_costly and isinstance(error.__cause__, QueryCanceled):
            _COSTLY.put(key, True, now_ms())
        raise
