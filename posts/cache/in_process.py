"""Posts in process memory. The invalidation log removes deleted and hidden posts from it."""

from collections.abc import Collection, Mapping
from functools import partial

from cachebox import TTLCache

from infra.caching.client import Command
from infra.caching.invalidation_log import (
    LOG,
    InvalidationLog,
    LogEntryKind,
    LogOffset,
    log_command,
)
from infra.caching.process_cache import find_copies
from posts.ids import PostId

MEMORY_S = 60
# About 1.3 kB each.
MOST_POSTS = 20_000


class InProcessPosts:
    """Fragments of recently shown posts; one instance a process, shared by its threads."""

    def __init__(self, log: InvalidationLog) -> None:
        self._posts: TTLCache[PostId, bytes] = TTLCache(MOST_POSTS, MEMORY_S)
        self._log = log
        log.register(LogEntryKind.POST, self._forget)
        log.register_memory(self._posts.clear)

    def find(self, ids: Collection[PostId], offset: LogOffset | None) -> dict[PostId, bytes]:
        """The posts among `ids` that are in memory. `offset`: of the log in this request."""
        if offset is None:
            return {}
        return find_copies(self._posts.get, ids)

    def keep(self, posts: Mapping[PostId, bytes], offset: LogOffset | None) -> None:
        """Stores posts that were loaded after the log was read up to `offset`."""
        self._log.keep(offset, partial(self._posts.update, posts))

    def _forget(self, packed: bytes) -> None:
        self._posts.pop(PostId.from_packed(packed), None)


in_process_posts = InProcessPosts(LOG)


def post_invalidation_command(post_id: PostId, clock_s: float) -> Command:
    """Removes a post from the memory of all processes. Send it after all caches are updated."""
    return log_command(LogEntryKind.POST, post_id.packed, clock_s)
