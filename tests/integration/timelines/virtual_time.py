"""A clock for posts, shards and polls that only moves when a test moves it."""

from typing import Any

import pytest
from django.conf import settings

from infra.sharding.sql import fetch_all
from posts.ids import EPOCH
from timelines.recent import by_author
from timelines.recent.packs import drop_packs
from timelines.recent.queries import late_rows, own_posts

START_MS = (EPOCH + 100_000) * 1000
# The shards stamp rows with the real time, which is later than any time here.
STAMP = """
UPDATE timelines_recentpost
SET arrival = LEAST(arrival, %(now)s), settled = LEAST(settled, %(now)s)
WHERE arrival > %(now)s OR settled > %(now)s RETURNING author_id
"""


class VirtualTime:
    """`now_ms`: the time of all clocks. `pass_ms` moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ms = START_MS
        monkeypatch.setattr(late_rows, "fetch_all", self._fetch_all)
        for module in (own_posts, by_author):
            monkeypatch.setattr(module, "now_ms", self._stamped_ms)

    def clock_s(self) -> float:
        return self.now_ms / 1000

    def clock_ms(self) -> int:
        return self.now_ms

    def _stamped_ms(self) -> int:
        self.stamp()
        return self.now_ms

    def pass_ms(self, passed: int) -> None:
        self.stamp()
        self.now_ms += passed

    def stamp(self) -> None:
        """What the shards wrote since the time moved was written now."""
        for alias in settings.SHARD_ALIASES:
            for (author_id,) in fetch_all(alias, STAMP, {"now": self.now_ms}):
                drop_packs([author_id])

    def _fetch_all(self, alias: str, sql: str, params: Any) -> list[tuple[Any, ...]]:
        self.stamp()
        now = f"to_timestamp({self.now_ms}::numeric / 1000)"
        return fetch_all(alias, sql.replace("statement_timestamp()", now), params)
