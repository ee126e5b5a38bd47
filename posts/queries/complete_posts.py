"""Status entities that are made of copies in process memory, for reads by any viewer."""

from collections.abc import Collection, Mapping, Sequence
from typing import Self

from accounts.queries.in_process import peek_accounts
from posts.api.present import Flags, is_open, present_repost, with_flags
from posts.cache.in_process import in_process_posts
from posts.cache.used_copies import UsedCopies
from posts.ids import PostId, authors_of
from posts.queries.rows import ListedPair


class CompletePosts:
    """Some posts and reposts, all of which were in process memory.

    `statuses`: their Status entities, for viewers without flags.
    """

    __slots__ = ("_copies", "_shown", "accounts", "statuses")

    def __init__(self, shown: Sequence[ListedPair], copies: UsedCopies) -> None:
        self._shown, self._copies = shown, copies
        authors = {i.author_id: copy.account for i, copy in copies.finished.items()}
        self.accounts: Mapping[int, bytes] = {**authors, **copies.reposters}
        self.statuses = [self._present(*pair, flags=0) for pair in shown]

    @classmethod
    def find(cls, shown: Sequence[ListedPair]) -> Self | None:
        """These posts, if all of them are in process memory and open. Cost: none.

        For a request that has not read the log yet: once it has, ask `are_usable`.
        """
        originals = list(dict.fromkeys(original for _, original in shown))
        finished = in_process_posts.peek_finished(originals)
        if len(finished) < len(originals) or not all(one.is_open for one in finished.values()):
            return None
        events = [event for event, original in shown if event is not original]
        reposts = in_process_posts.peek_copies(events)
        reposters = peek_accounts(authors_of(events)).hits if events else {}
        if len(reposts) < len(events) or len(reposters) < len(authors_of(events)):
            return None
        if not all(is_open(copy.fragment) for copy in reposts.values()):
            return None
        return cls(shown, UsedCopies(finished, reposts, reposters))

    @property
    def texts(self) -> Mapping[PostId, bytes]:
        """The entities of the posts, without flags. Reposts have none of their own."""
        return {i: copy.text for i, copy in self._copies.finished.items()}

    @property
    def are_usable(self) -> bool:
        """Whether nothing of these posts has changed. The request has read the log."""
        return self._copies.are_usable

    def list_visible(self, hidden: Collection[int], flags: Flags) -> list[bytes]:
        """Status entities of the posts that no hidden author wrote or reposted, in their order.

        `flags`: the viewer's, also of other posts.
        """
        if not hidden and flags.keys().isdisjoint(self._copies.finished):
            return self.statuses
        return [
            self._present(event, original, flags.get(original, 0))
            for event, original in self._shown
            if event.author_id not in hidden and original.author_id not in hidden
        ]

    def _present(self, event: PostId, original: PostId, flags: int) -> bytes:
        copy = self._copies.finished[original]
        status = with_flags(copy.text, flags)
        if event == original:
            return status
        by = self._copies.reposters[event.author_id]
        repost = self._copies.reposts[event].fragment
        return present_repost(repost, by, status, copy.counts, flags)
