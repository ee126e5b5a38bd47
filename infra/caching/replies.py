"""Splits the replies of one round trip among the parts that its commands came from."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any


def split_replies(replies: Sequence[Any], parts: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """The replies to each part. `parts`: the commands, or as many other things."""
    left = iter(replies)
    return (list(islice(left, len(part))) for part in parts)
