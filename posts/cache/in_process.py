"""Posts in process memory: fragments, and finished Status entities without the viewer's flags.

The invalidation log removes deleted and hidden posts. A finished entity ends with the copies of the
account and the counts that are in it. Pages may use these copies as long as copy_ages.py says.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import NamedTuple

from accounts.cache import profiles
from accounts.queries.in_process import find_account_asked_at
from counters.cache import account_counts
from infra.caching.client import Command
from infra.caching.copy_ages import NAMES_AND_COUNTS, AgeLimit
from infra.caching.invalidation import register_copies
from infra.caching.invalidation_log import (
    LOG,
    InvalidationLog,
    LogEntryKind,
    LogOffset,
    log_command,
)
from infra.caching.metrics import count_reads
from infra.caching.process_cache import SOON_SHARE
from infra.caching.process_memory import most_entries
from posts.api.present import present_status
from posts.cache.by_author import ENDED, PostCopy, PostsByAuthor
from posts.cache.counts import find_counts_asked_at, post_counts, post_of
from posts.ids import PostId

FAMILY = "posts.finished"
MEMORY_S = 60.0
# To count the reads of a kept page's posts costs more than the page. So only one of this many uses
# is counted, and counts as this many reads.
USES_COUNTED = 8
MOST_POSTS = most_entries(FAMILY, share=0.225, bytes_each=2_200)


class StatusParts(NamedTuple):
    """The parts of a Status entity without the viewer's flags."""

    fragment: bytes
    account: bytes
    counts: bytes


class InProcessPosts:
    """Recently shown posts; one instance a process, shared by its threads."""

    def __init__(
        self,
        log: InvalidationLog,
        clock: Callable[[], float] = time.monotonic,
        ages: AgeLimit = NAMES_AND_COUNTS,
    ) -> None:
        """`ages`: of the names and counts in entities."""
        self._posts, self.ages = PostsByAuthor(MOST_POSTS), ages
        self._log, self._clock = log, clock
        self._changing = threading.Lock()
        self._uses = 0
        log.register(LogEntryKind.POST, self._forget)
        log.register_memory(self.forget_all)

    def find(self, ids: Collection[PostId], offset: LogOffset | None) -> dict[PostId, bytes]:
        """Fragments of the posts in memory. `offset`: of the log in this request."""
        return {i: copy.fragment for i, copy in self.find_copies(ids, offset).items()}

    def find_finished(
        self, ids: Collection[PostId], offset: LogOffset | None
    ) -> dict[PostId, PostCopy]:
        """The finished posts among `ids`, in their order. `offset`: as in `find`."""
        return {} if offset is None else self.peek_finished(ids)

    def peek_finished(self, ids: Collection[PostId]) -> dict[PostId, PostCopy]:
        """As `find_finished`, for a request that has not read the log yet. Once it has, ask
        `are_usable` before the copies are shown."""
        fresh = self._posts.find_fresh(ids, self.ages.oldest(self._clock()))
        count_reads(FAMILY, "process", len(fresh), len(ids) - len(fresh))
        return fresh

    def find_copies(
        self, ids: Collection[PostId], offset: LogOffset | None
    ) -> dict[PostId, PostCopy]:
        """Copies of the posts whose fragments may be used. `offset`: as in `find`."""
        return {} if offset is None else self.peek_copies(ids)

    def peek_copies(self, ids: Collection[PostId]) -> dict[PostId, PostCopy]:
        """As `find_copies`, for a request that has not read the log yet."""
        now, copies = self._clock(), ((i, self._posts.find(i)) for i in ids)
        return {i: copy for i, copy in copies if copy is not None and copy.kept_until > now}

    def are_finished(self, ids: Iterable[PostId]) -> bool:
        """Whether `find_finished` would find all of them now. The log may say more."""
        return self._posts.are_fresh(ids, self.ages.oldest(self._clock()))

    def find_ending(
        self, ids: Collection[PostId], events: Iterable[PostId]
    ) -> Mapping[PostId, PostCopy] | None:
        """The posts among `ids` whose entities have ended or end soon.

        None: the fragment of one of the posts, or of the reposts `events`, is missing.
        """
        now, find = self._clock(), self._posts.find
        copies = {i: find(i) for i in ids}
        known = {
            i: copy for i, copy in copies.items() if copy is not None and copy.kept_until > now
        }
        if len(known) < len(ids) or not self._have_fragments(events, now):
            return None
        oldest = self.ages.oldest(now)
        lasting = oldest + (now - oldest) * SOON_SHARE
        ending = {i: copy for i, copy in known.items() if copy.asked_at <= lasting}
        count_reads(FAMILY, "process", len(known) - len(ending), len(ending))
        return ending

    def _have_fragments(self, ids: Iterable[PostId], now: float) -> bool:
        copies = map(self._posts.find, ids)
        return all(copy is not None and copy.kept_until > now for copy in copies)

    def are_usable(self, finished: Collection[PostCopy], others: Collection[PostCopy]) -> bool:
        """Whether the entities of some copies, and the fragments of others, may be used as they
        are. The request has read the log. Counts some of the reads, each for all of them."""
        self._uses += 1
        if self._uses % USES_COUNTED == 0:
            self._posts.count_reads(chain(finished, others), USES_COUNTED)
        now = self._clock()
        oldest = self.ages.oldest(now)
        for copy in finished:
            if copy.asked_at <= oldest:
                return False
        return not others or all(copy.kept_until > now for copy in others)

    def keep(self, posts: Mapping[PostId, bytes], offset: LogOffset | None) -> None:
        """Stores fragments that were loaded after the log was read up to `offset`."""
        kept_until = self._clock() + MEMORY_S
        copies = {i: PostCopy(fragment, kept_until) for i, fragment in posts.items()}
        self._log.keep(offset, partial(self._put, copies))

    def finish(
        self, posts: Mapping[PostId, StatusParts], offset: LogOffset | None
    ) -> dict[PostId, bytes]:
        """The Status entities of posts that are no reposts, without the viewer's flags.

        Those whose fragments are in memory are kept. `offset`: as in `keep`.
        """
        statuses = {i: self._find_or_present(i, parts) for i, parts in posts.items()}
        self._log.keep(offset, partial(self._keep_finished, posts, statuses))
        return statuses

    def _find_or_present(self, post_id: PostId, parts: StatusParts) -> bytes:
        """The entity in memory if nothing changed, as mostly: Python keeps the hash of an object,
        so its digest is found faster."""
        copy = self._posts.find(post_id)
        if copy is not None and copy.is_made_of(*parts):
            return copy.text
        return present_status(*parts)

    def forget_all(self) -> None:
        with self._changing:
            self._posts.clear()

    def end_entities(self, ids: Iterable[PostId]) -> None:
        """The counts of these posts changed. Their fragments stay."""
        with self._changing:
            _end(copy for i in ids if (copy := self._posts.find(i)) is not None)

    def end_entities_of(self, author_ids: Iterable[int]) -> None:
        """The accounts changed. The fragments of their posts stay."""
        with self._changing:
            for author_id in author_ids:
                _end(self._posts.of_author(author_id))

    def end_all_entities(self) -> None:
        with self._changing:
            _end(self._posts.all())

    def _put(self, copies: Mapping[PostId, PostCopy]) -> None:
        with self._changing:
            self._posts.put(copies)

    def _keep_finished(
        self, posts: Mapping[PostId, StatusParts], statuses: Mapping[PostId, bytes]
    ) -> None:
        # Under the lock: an invalidation drops the copies of the parts before it ends entities. So
        # it finds the entity, or its copies are gone here.
        with self._changing:
            finished = {}
            for post_id, (_, account, counts) in posts.items():
                copy = self._posts.find(post_id)
                asked_at = _find_asked_at(post_id, account, counts)
                if copy is None or asked_at == ENDED:
                    continue
                if copy.text is statuses[post_id]:  # pages that were made of it may go on
                    copy.account, copy.counts, copy.asked_at = account, counts, asked_at
                else:
                    finished[post_id] = copy.finish(statuses[post_id], account, counts, asked_at)
            self._posts.put(finished)

    def _forget(self, packed: bytes) -> None:
        with self._changing:
            self._posts.pop(PostId.from_packed(packed))


def _find_asked_at(post_id: PostId, account: bytes, counts: bytes) -> float:
    """When the older one was asked for; ENDED if one is not the copy that this process has."""
    return min(
        find_account_asked_at(post_id.author_id, account), find_counts_asked_at(post_id, counts)
    )


def _end(copies: Iterable[PostCopy]) -> None:
    for copy in copies:
        copy.asked_at = ENDED


in_process_posts = InProcessPosts(LOG)


class _EndsByAccount:
    """ProcessCopies whose owners are the authors."""

    def forget(self, owners: Collection[int]) -> None:
        in_process_posts.end_entities_of(owners)

    def forget_all(self) -> None:
        in_process_posts.end_all_entities()


class _EndsByCounts(_EndsByAccount):
    """ProcessCopies whose owners are the numbers of the posts."""

    def forget(self, owners: Collection[int]) -> None:
        in_process_posts.end_entities(map(post_of, owners))


register_copies(profiles.family, _EndsByAccount())
register_copies(account_counts.family, _EndsByAccount())
register_copies(post_counts.family, _EndsByCounts())


def post_invalidation_command(post_id: PostId, clock_s: float) -> Command:
    """Removes a post from the memory of all processes. Send it after all caches are updated."""
    return log_command(LogEntryKind.POST, post_id.packed, clock_s)
