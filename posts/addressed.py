"""The accounts that a post addresses: the one that it answers, and those that it mentions."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from posts.fragments.read import MENTIONS, find_replied_to
from posts.ids import PostId

# Text that people write has no unescaped quotes.
_NO_REPLY, _NO_MENTIONS = b'"in_reply_to_account_id":null', MENTIONS + b"]"
_MENTIONED = re.compile(rb'\{"id":"(\d+)"')


class Addressed(NamedTuple):
    """`replied_to`: None for a post that is no reply. `mentioned`: in the order of the text."""

    replied_to: int | None
    mentioned: tuple[int, ...] = ()

    @property
    def account_ids(self) -> set[int]:
        """All of them."""
        return {*self.mentioned, *(() if self.replied_to is None else (self.replied_to,))}


def find_addressed(posts: Mapping[PostId, bytes]) -> dict[PostId, Addressed]:
    """The posts that address an account, be it their author. `posts`: with their fragments.

    Cost: two searches of bytes for a post that addresses none, as most. Reposts address none.
    """
    addressed: dict[PostId, Addressed] = {}
    for post_id, fragment in posts.items():
        if _NO_REPLY in fragment and fragment.rfind(_NO_MENTIONS) >= 0:
            continue
        replied_to, mentioned = find_replied_to(fragment), _find_mentioned(fragment)
        if replied_to is not None or mentioned:
            addressed[post_id] = Addressed(replied_to, mentioned)
    return addressed


def _find_mentioned(fragment: bytes) -> tuple[int, ...]:
    start = fragment.find(MENTIONS) + len(MENTIONS)
    if start < len(MENTIONS) or fragment.startswith(b"]", start):
        return ()
    return tuple(map(int, _MENTIONED.findall(fragment, start, fragment.index(b"]", start))))
