"""Hydration: loads posts with their authors and counts, in one round trip when warm."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from accounts.queries.in_process import ask_accounts
from infra.caching.invalidation_log import LOG, LogOffset
from infra.caching.questions import RoundTrip
from posts.api.present import NO_COUNTS, is_repost, present_repost, present_status
from posts.cache.counts import ask_counts
from posts.cache.fragments import ask_fragments
from posts.cache.viewer_state import Flags
from posts.cache.weeks import Fragments
from posts.ids import PostId, authors_of


class Hydrated(NamedTuple):
    """Posts with everything that their JSON needs, except the viewer's flags.

    `fragments`: of the posts that exist. `accounts`: Account JSON by author. `counts`: JSON by
    post. `has_copies`: some accounts or counts are from process memory.
    """

    fragments: Fragments
    accounts: Mapping[int, bytes]
    counts: Mapping[PostId, bytes]
    has_copies: bool

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

    def present_all(self, ids: Collection[PostId], flags: Flags) -> dict[PostId, bytes]:
        """The Status entity of each post. All must exist (`has_both`); none may be a repost.

        `flags`: the viewer's flags by post.
        """
        fragments, accounts, counts = self.fragments, self.accounts, self.counts
        return {
            i: present_status(
                fragments[i], accounts[i.author_id], counts.get(i, NO_COUNTS), flags.get(i, 0)
            )
            for i in ids
        }

    def present(self, event: PostId, original: PostId, flags: int = 0) -> bytes:
        """The Status entity of a post, or of a repost around its original.

        Both must exist (`has_both`). `flags`: the viewer's flags of the original.
        """
        counts = self.counts.get(original, NO_COUNTS)
        account = self.accounts[original.author_id]
        status = present_status(self.fragments[original], account, counts, flags)
        if event is original or event == original:
            return status
        by = self.accounts[event.author_id]
        return present_repost(self.fragments[event], by, status, counts, flags)


class Hydration:
    """Questions about posts, their authors and counts, in one round trip. After it, `value`.

    `reposts`: the reposts that show some of the posts; reposts have no counts of their own.
    `offset`: of the invalidation log, if this request has read it. Otherwise the log is asked too,
    and only accounts, but no posts, come from process memory. `is_current`: no accounts and counts
    come from there, for a viewer who wrote lately. Cost: no SQL when warm, and no command if all is
    in process memory. Data that Redis lacks is read from its shard, once.
    """

    def __init__(
        self,
        trip: RoundTrip,
        ids: Sequence[PostId],
        reposts: Sequence[PostId] = (),
        offset: LogOffset | None = None,
        is_current: bool = False,
    ) -> None:
        wanted = dict.fromkeys([*ids, *reposts])
        log = trip.ask(LOG.ask()) if offset is None and wanted else None
        authors = authors_of(wanted)
        counted = dict.fromkeys(ids) if reposts else wanted
        self._fragments = trip.ask(ask_fragments(wanted, offset))
        self._accounts = trip.ask(ask_accounts(authors, log, is_current))
        self._counts = trip.ask(ask_counts(counted, self._fragments, is_current))

    @property
    def value(self) -> Hydrated:
        has_copies = self._accounts.has_copies or self._counts.has_copies
        return Hydrated(self._fragments.value, self._accounts.value, self._counts.value, has_copies)


def hydrate(
    ids: Sequence[PostId], reposts: Sequence[PostId] = (), is_current: bool = False
) -> Hydrated:
    """As `Hydration`, in a round trip of its own."""
    trip = RoundTrip()
    posts = Hydration(trip, ids, reposts, is_current=is_current)
    trip.run()
    return posts.value
