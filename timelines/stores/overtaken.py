"""Timelines in Redis that pages have overtaken while Redis was away.

Such a page comes from the shards. It shows posts that the drain has not pushed yet, however long
that takes. Redis keeps its data, so the timeline in Redis lacks these posts when Redis is back. It
is deleted before this process uses Redis again. The next page, in any process, then builds it
from the shards, which have what was shown.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from cachebox import LRUCache

from infra.caching.client import redis
from infra.caching.errors import REDIS_AWAY

# About 100 bytes each.
MOST_OVERTAKEN = 20_000
BATCH_SIZE = 500


class OvertakenTimelines:
    """Of one store, and of this process. `drop` deletes timelines in Redis, by owner.

    If there are more than MOST_OVERTAKEN, those of the owners who read longest ago stay. Safety:
    any thread may use it. A process that dies loses them.
    """

    def __init__(self, drop: Callable[[Sequence[int]], None]) -> None:
        self._drop = drop
        self._owners: LRUCache[int, None] = LRUCache(MOST_OVERTAKEN)

    def note(self, owner_id: int) -> None:
        """Call it between the read without Redis and the answer. Cost: none, it waits for nothing.

        A build that begins after the timeline was deleted reads the shards later than the caller
        did.
        """
        self._owners[owner_id] = None
        redis().run_before_next_use(self._drop_all)

    def _drop_all(self, _: Sequence[None]) -> None:
        while owners := self._take():
            try:
                self._drop(owners)
            except REDIS_AWAY:
                self._owners.update(dict.fromkeys(owners))
                raise

    def _take(self) -> list[int]:
        taken: list[int] = []
        with suppress(KeyError):
            while len(taken) < BATCH_SIZE:
                taken.append(self._owners.popitem()[0])
        return taken
