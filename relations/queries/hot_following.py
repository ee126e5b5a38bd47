"""First pages of following lists that are read very often, in process memory."""

from collections.abc import Callable, Iterable
from struct import Struct

from infra.caching.client import Command
from infra.caching.hot_keys import HOT_KEYS, HotKeys
from infra.caching.hot_values import HotValues
from infra.caching.invalidation import register_copies
from infra.caching.invalidation_log import LOG, InvalidationLog, LogEntryKind, log_command
from relations.cache import FOLLOWING
from relations.queries.cached_edge_list import CachedEdgeList

_OWNER = Struct(">I")


class FollowingPages(HotValues[tuple[int, int], CachedEdgeList]):
    """By owner and limit. Changes invalidate them by the owner of the list.

    A page without a new follow may be a moment old. One that still shows a follow that is quiet now
    may not, so copies are used after a read of the invalidation log.
    """

    def __init__(self, log: InvalidationLog, hot_keys: HotKeys = HOT_KEYS) -> None:
        super().__init__(FOLLOWING.family, lambda page: FOLLOWING.key(page[0]), hot_keys)
        self._log = log
        log.register(LogEntryKind.QUIET_FOLLOW, lambda owner: self.forget(_OWNER.unpack(owner)))
        log.register_memory(self.forget_all)

    def find(
        self, page: tuple[int, int], read: Callable[[], CachedEdgeList | None]
    ) -> CachedEdgeList | None:
        """The copy, or the result of `read`. One round trip. Raises what `read` raises."""
        if page in self._copies:
            self._log.read()
            return self.get(page, read)
        # Not a copy that another thread stores after the look: it may be older than the log.
        asked_at = self.split((page,)).asked_at
        first = read()
        if first is not None:
            self.store({page: first}, asked_at)
        return first

    def forget(self, owner_ids: Iterable[int]) -> None:
        self.forget_names([FOLLOWING.key(owner_id) for owner_id in owner_ids])

    def forget_all(self) -> None:
        self.clear()


def quiet_follow_command(owner_id: int, clock_s: float) -> Command:
    """Removes the owner's following list, as others see it, from the memory of all processes."""
    return log_command(LogEntryKind.QUIET_FOLLOW, _OWNER.pack(owner_id), clock_s)


following_pages = FollowingPages(LOG)
register_copies(FOLLOWING.family, following_pages)
