"""The copy of the bucket map in this process, and reasons to look at the map again. No queries."""

import threading
from collections.abc import Mapping
from typing import NamedTuple

from infra.moving import KnownEpoch


class BucketMap(NamedTuple):
    """`aliases`: of each bucket. `moved_ms`: when a bucket got its shard, if it ever moved.

    `epoch`: raised by each move, so that an old copy can be told from the current map.
    """

    aliases: tuple[str, ...] = ()
    epoch: int = -1
    moved_ms: Mapping[int, int] = {}

    def __hash__(self) -> int:
        return hash(self.epoch)


class MapCopy:
    """`doubts` counts the reasons to look at the map again."""

    map = BucketMap()
    is_current = False
    doubts = 0
    _lock = threading.Lock()

    @classmethod
    def keep(cls, known: BucketMap, doubts: int) -> None:
        """A map that was read when there were so many doubts."""
        with cls._lock:
            if known.epoch >= cls.map.epoch:
                cls.map, KnownEpoch.value = known, known.epoch
            cls.is_current = cls.doubts == doubts

    @classmethod
    def doubt(cls) -> None:
        """The next use of the map asks whether it has changed."""
        with cls._lock:
            cls.doubts += 1
            cls.is_current = False

    @classmethod
    def forget(cls) -> None:
        """For a process that gets other databases."""
        with cls._lock:
            cls.map, cls.is_current, KnownEpoch.value = BucketMap(), False, -1
            cls.doubts += 1
