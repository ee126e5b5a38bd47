"""What a pull is asked for: whose posts, and which part of their timeline."""

from collections.abc import Sequence
from typing import NamedTuple

from posts.ids import FIRST, LAST, PostId


class Span(NamedTuple):
    """Part of a timeline: entries strictly between `above` and `below`."""

    above: PostId = FIRST
    below: PostId = LAST


class Circle(NamedTuple):
    """Whose posts a home shows: the reader's own and the followees'."""

    reader_id: int
    followee_ids: Sequence[int]

    @property
    def author_ids(self) -> list[int]:
        return [self.reader_id, *self.followee_ids]
