"""The copies in process memory that an answer was made of, and whether they may still be used."""

from collections.abc import Mapping
from typing import NamedTuple

from accounts.queries.in_process import is_account_current
from posts.cache.by_author import PostCopy
from posts.cache.in_process import in_process_posts
from posts.ids import PostId


class UsedCopies(NamedTuple):
    """`finished`: posts with their whole entities. `reposts`: events, of which only the fragment
    counts. `reposters`: Account JSON of their authors.
    """

    finished: Mapping[PostId, PostCopy]
    reposts: Mapping[PostId, PostCopy]
    reposters: Mapping[int, bytes]

    @property
    def are_usable(self) -> bool:
        """Whether an answer made of them would be the same. The request has read the log."""
        if not in_process_posts.are_usable(self.finished.values(), self.reposts.values()):
            return False
        for account_id, account in self.reposters.items():
            if not is_account_current(account_id, account):
                return False
        return True
