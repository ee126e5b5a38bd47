"""Values of timelines: entries are ids and order, never bodies."""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple, Self

from posts.ids import PACKED_BYTES, PostId

_PACKED = Struct(">IIHIIH")
ENTRY_BYTES = _PACKED.size


class Entry(NamedTuple):
    """What happened (`event`: its place in the timeline) and what is shown (`original`).

    For a post of one's own both are the same. Compares in page order, packed or not.
    """

    event: PostId
    original: PostId

    @property
    def packed(self) -> bytes:
        """20 bytes: the event's 10, the original's 10, as in posts/ids.py."""
        return _PACKED.pack(*self.event, *self.original)

    @classmethod
    def from_packed(cls, data: bytes) -> Self:
        event = PostId.from_packed(data)
        if data[:PACKED_BYTES] == data[PACKED_BYTES:]:
            return cls(event, event)
        return cls(event, PostId.from_packed(data, PACKED_BYTES))

    @classmethod
    def of_post(cls, post_id: PostId) -> Self:
        return cls(post_id, post_id)


class LiveTimeline(NamedTuple):
    """A stored home timeline.

    `packed`: entries oldest first, packed, those below the mark left out; may repeat.
    `complete_from`: every entry of this second or later is here; older ones may be missing.
    `following_version`: the reader's following list that it reflects.
    """

    packed: Sequence[bytes]
    complete_from: int
    following_version: int


assert ENTRY_BYTES == 2 * PACKED_BYTES  # noqa: S101 - the store's scripts count in these
