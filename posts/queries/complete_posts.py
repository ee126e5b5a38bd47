"""Status entities that are made of copies in process memory, for reads by any viewer."""

from collections.abc import Collection, Mapping

from posts.api.present import Flags, present_repost, with_flags
from posts.cache.used_copies import UsedCopies
from posts.ids import PostId

OriginalByEvent = Mapping[PostId, PostId]  # a post or repost → the post that it shows


class CompletePosts:
    """Some posts and reposts, all of which were in process memory.

    `statuses`: their Status entities, for viewers without flags.
    """

    def __init__(self, shown: OriginalByEvent, copies: UsedCopies) -> None:
        self._shown, self._copies = shown, copies
        authors = {i.author_id: copy.account for i, copy in copies.finished.items()}
        self.accounts: Mapping[int, bytes] = {**authors, **copies.reposters}
        self.texts = {i: copy.text for i, copy in copies.finished.items()}
        self.statuses = [self._present(*pair, flags=0) for pair in shown.items()]

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
            for event, original in self._shown.items()
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
