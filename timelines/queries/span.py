"""What a pull is asked for: whose posts, and which part of their timeline."""

from collections.abc import Sequence
from typing import NamedTuple

from posts.ids import FIRST, LAST, PostId


class TimeRange(NamedTuple):
    """Part of a timeline: entries strictly between `above` and `below`."""

    above: PostId = FIRST
    below: PostId = LAST


class TimelineAuthors(NamedTuple):
    """Whose posts a timeline shows: the followees', and at home the reader's own."""

    reader_id: int
    followee_ids: Sequence[int]
    has_own: bool = True

    @property
    def author_ids(self) -> list[int]:
        return [self.reader_id, *self.followee_ids] if self.has_own else [*self.followee_ids]
