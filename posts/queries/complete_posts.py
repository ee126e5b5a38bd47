"""Status entities that are made of copies in process memory, for reads by any viewer."""

from collections.abc import Collection, Mapping

from accounts.queries.in_process import is_account_current
from posts.api.present import present_repost, with_flags
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.cache.viewer_state import Flags
from posts.ids import PostId

OriginalByEvent = Mapping[PostId, PostId]  # a post or repost → the post that it shows


class CompletePosts:
    """Some posts and reposts, all of which were in process memory.

    `finished`: the shown posts. `reposters`: Account JSON of the authors of `reposts`.
    """

    def __init__(
        self,
        shown: OriginalByEvent,
        finished: Mapping[PostId, PostCopy],
        reposts: Mapping[PostId, PostCopy],
        reposters: Mapping[int, bytes],
    ) -> None:
        self._shown, self._finished, self._reposts = shown, finished, reposts
        self._reposters = reposters
        authors = {i.author_id: copy.account for i, copy in finished.items()}
        self.accounts: Mapping[int, bytes] = {**authors, **reposters}
        self._statuses = [self._present(*pair, flags=0) for pair in shown.items()]

    def are_usable(self) -> bool:
        """Whether nothing of these posts has changed. The request has read the log."""
        return in_process_posts.are_usable(self._finished.values(), self._reposts.values()) and all(
            is_account_current(*one) for one in self._reposters.items()
        )

    def list_visible(self, hidden: Collection[int], flags: Flags) -> list[bytes]:
        """Status entities of the posts that no hidden author wrote or reposted, in their order.

        `flags`: the viewer's, also of other posts.
        """
        if not hidden and flags.keys().isdisjoint(self._finished):
            return self._statuses
        return [
            self._present(event, original, flags.get(original, 0))
            for event, original in self._shown.items()
            if event.author_id not in hidden and original.author_id not in hidden
        ]

    def _present(self, event: PostId, original: PostId, flags: int) -> bytes:
        copy = self._finished[original]
        status = with_flags(copy.text, flags)
        if event == original:
            return status
        by = self._reposters[event.author_id]
        return present_repost(self._reposts[event].fragment, by, status, copy.counts, flags)
