"""Whether a reader's home timeline or list shows a post, by the accounts that it addresses. Pure.

One rule for pages, polls, streams, catch-ups, counts and what is new. Only the reader's own blocks
and mutes count: that a post is missing must not tell who blocks the reader.
"""

from collections.abc import Mapping
from typing import NamedTuple

from posts.addressed import Addressed
from relations.types import Relationship
from relations.visibility import Surface, may_show


class ReplyScope(NamedTuple):
    """Which answers are shown. Answers to the reader always are.

    `to_all`: to all accounts. `to_followees`: to accounts that the reader follows, also quietly.
    `to_author`: of an author to the same author. `to_accounts`: to these.
    """

    to_all: bool = False
    to_followees: bool = False
    to_author: bool = True
    to_accounts: frozenset[int] = frozenset()

    def includes(
        self, replied_to: int, author_id: int, relationships: Mapping[int, Relationship]
    ) -> bool:
        """`replied_to`: not the reader."""
        if self.to_all or replied_to in self.to_accounts:
            return True
        if replied_to == author_id:
            return self.to_author
        return self.to_followees and relationships[replied_to].is_followed


ALL_REPLIES = ReplyScope(to_all=True)
REPLIES_TO_FOLLOWEES = ReplyScope(to_followees=True)
# By the choice of the reader for home (accounts.types.HOME_REPLIES).
HOME_SCOPES = {
    "followed": REPLIES_TO_FOLLOWEES,
    "all": ALL_REPLIES,
    "none": ReplyScope(to_author=False),
}


def shows_addressed(
    reader_id: int,
    author_id: int,
    addressed: Addressed,
    replies: ReplyScope,
    relationships: Mapping[int, Relationship],
    now_ms: int,
) -> bool:
    """Whether the post is shown to the reader.

    `relationships`: of the reader with all of `addressed`. Posts of the reader are shown. Others
    are not if they address an account that the reader blocks or mutes, unless they address the
    reader too; and if they answer an account that `replies` leaves out.
    """
    if author_id == reader_id:
        return True
    accounts = addressed.account_ids
    if reader_id not in accounts and any(
        not may_show(Surface.ADDRESSED, relationships[account_id], now_ms)
        for account_id in accounts
    ):
        return False
    replied_to = addressed.replied_to
    if replied_to is None or replied_to == reader_id:
        return True
    return replies.includes(replied_to, author_id, relationships)
