"""Hydration: loads posts with their authors and counts, in one round trip when warm."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from accounts.queries.in_process import ask_accounts
from infra.caching.invalidation_log import LOG, LogOffset, LogQuestion
from infra.caching.questions import RoundTrip
from posts.api.present import (
    NO_COUNTS,
    is_repost,
    present_repost,
    present_status,
    with_flags,
)
from posts.cache.by_author import PostCopy
from posts.cache.counts import ask_counts
from posts.cache.fragments import ask_fragments
from posts.cache.in_process import StatusParts, in_process_posts
from posts.cache.weeks import Fragments
from posts.ids import PostId, authors_of


class Hydrated(NamedTuple):
    """Posts with everything that their JSON needs, except the viewer's flags.

    `fragments`: of the posts that exist. `accounts`: Account JSON by author. `counts`: JSON by
    post. `has_copies`: some accounts or counts are from process memory. `statuses`: finished
    entities of some of the posts.
    """

    fragments: Fragments
    accounts: Mapping[int, bytes]
    counts: Mapping[PostId, bytes]
    has_copies: bool
    statuses: Mapping[PostId, bytes] = {}

    def has_both(self, event: PostId, original: PostId) -> bool:
        """Whether the event, its original and both authors exist, and the original is no repost.

        The fragment of a repost is no JSON without its original.
        """
        return (
            event in self.fragments
            and original in self.fragments
            and not is_repost(self.fragments[original])
            and event.author_id in self.accounts
            and original.author_id in self.accounts
        )

    def present(self, event: PostId, original: PostId, flags: int = 0) -> bytes:
        """The Status entity of a post, or of a repost around its original.

        Both must exist (`has_both`). `flags`: the viewer's flags of the original.
        """
        counts = self.counts.get(original, NO_COUNTS)
        status = self.statuses.get(original)
        if status is None:
            account = self.accounts[original.author_id]
            status = present_status(self.fragments[original], account, counts)
        status = with_flags(status, flags)
        if event is original or event == original:
            return status
        by = self.accounts[event.author_id]
        return present_repost(self.fragments[event], by, status, counts, flags)


NO_POSTS = Hydrated({}, {}, {}, has_copies=False)


class Hydration:
    """Questions about posts, their authors and counts, in one round trip. After it, `value`.

    `reposts`: the reposts that show some of the posts; reposts have no counts of their own.

    Process memory is used only with the invalidation log. `offset`: the request has read the log up
    to here, in an earlier round trip. `log`: it was asked before in this round trip. Without both,
    the log is asked here. If the log turns out to have new entries, the posts are loaded again.

    `is_current`: accounts and counts do not come from process memory, for a viewer who wrote
    lately. `uses_memory` False: nothing comes from it. Cost: no SQL when warm, and no command if
    all is in process memory. Data that Redis lacks is read from its shard, once.
    """

    def __init__(
        self,
        trip: RoundTrip,
        ids: Sequence[PostId],
        reposts: Sequence[PostId] = (),
        offset: LogOffset | None = None,
        is_current: bool = False,
        uses_memory: bool = True,
        log: LogQuestion | None = None,
    ) -> None:
        self._asked, self._is_current = (ids, reposts), is_current
        wanted = dict.fromkeys([*ids, *reposts])
        asks_log = offset is None and log is None and uses_memory and wanted
        self._log = trip.ask(LOG.ask()) if asks_log else log
        self._since = offset if self._log is None else self._log.since
        self._finished: Mapping[PostId, PostCopy] = {}
        if not is_current:
            self._finished = in_process_posts.find_finished(ids, self._since)
        self._unfinished: _Unfinished | None = None
        if rest := [i for i in wanted if i not in self._finished]:
            own = [i for i in dict.fromkeys(ids) if i not in self._finished] if reposts else rest
            self._unfinished = _Unfinished(trip, rest, own, is_current, self._since, self._log)

    @property
    def value(self) -> Hydrated:
        """The posts, after the round trip. Each use finishes them again, so use it once."""
        if self._is_outdated():
            return self._load_again()
        if self._unfinished is None:
            return _hydrate_finished(self._finished)
        loaded = self._unfinished.finish(self.offset)
        if not self._finished:
            return loaded
        finished = _hydrate_finished(self._finished)
        return Hydrated(
            {**finished.fragments, **loaded.fragments},
            {**finished.accounts, **loaded.accounts},
            {**finished.counts, **loaded.counts},
            True,
            {**finished.statuses, **loaded.statuses},
        )

    @property
    def finished(self) -> Mapping[PostId, PostCopy]:
        """Those of the posts that are finished in process memory, after the round trip."""
        return {} if self._is_outdated() else self._finished

    @property
    def offset(self) -> LogOffset | None:
        """Of the invalidation log, after the round trip."""
        return self._since if self._log is None else self._log.value

    def finish(self) -> None:
        """Keeps what was loaded in process memory. For callers who show the posts later."""
        if self._unfinished is not None and not self._is_outdated():
            self._unfinished.finish(self.offset)

    def _is_outdated(self) -> bool:
        """Whether some posts are from process memory, and the log has new entries."""
        if self._log is None:
            return False
        unfinished = self._unfinished
        has_copies = self._finished or (unfinished is not None and unfinished.has_copied_posts)
        return bool(has_copies) and self._log.value != self._since

    def _load_again(self) -> Hydrated:
        offset, trip = self._log.value if self._log else None, RoundTrip()
        is_current = self._is_current or offset is None
        again = Hydration(trip, *self._asked, offset, is_current, uses_memory=offset is not None)
        trip.run()
        return again.value


class _Unfinished:
    """Questions about posts that are not finished in process memory. `own`: without reposts."""

    def __init__(
        self,
        trip: RoundTrip,
        ids: Sequence[PostId],
        own: Sequence[PostId],
        is_current: bool,
        since: LogOffset | None,
        log: LogQuestion | None,
    ) -> None:
        self._fragments = trip.ask(ask_fragments(ids, since, log))
        self._accounts = trip.ask(ask_accounts(authors_of(ids), log, is_current))
        self._counts = trip.ask(ask_counts(own, self._fragments, is_current))

    @property
    def has_copied_posts(self) -> bool:
        """Whether some posts are from process memory."""
        return self._fragments.has_copies

    def finish(self, offset: LogOffset | None) -> Hydrated:
        """The posts, after the round trip. Their entities are kept in process memory."""
        fragments, accounts = self._fragments.value, self._accounts.value
        counts = self._counts.value
        parts = {
            i: StatusParts(fragments[i], accounts[i.author_id], text)
            for i, text in counts.items()
            if i in fragments and i.author_id in accounts and not is_repost(fragments[i])
        }
        statuses = in_process_posts.finish(parts, offset) if parts else {}
        has_copies = self._accounts.has_copies or self._counts.has_copies
        return Hydrated(fragments, accounts, counts, has_copies, statuses)


def _hydrate_finished(finished: Mapping[PostId, PostCopy]) -> Hydrated:
    return Hydrated(
        {i: copy.fragment for i, copy in finished.items()},
        {i.author_id: copy.account for i, copy in finished.items()},
        {i: copy.counts for i, copy in finished.items()},
        bool(finished),
        {i: copy.text for i, copy in finished.items()},
    )


def hydrate(
    ids: Sequence[PostId], reposts: Sequence[PostId] = (), is_current: bool = False
) -> Hydrated:
    """As `Hydration`, in a round trip of its own."""
    trip = RoundTrip()
    posts = Hydration(trip, ids, reposts, is_current=is_current)
    trip.run()
    return posts.value
