"""Splits the replies of one round trip among the parts that its commands came from."""

from collections.abc import Sequence
from typing import Any


def split_replies(replies: Sequence[Any], parts: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """The replies to each part. `parts`: the commands, or as many other things."""
    split, start = [], 0
    for part in parts:
        split.append(replies[start : start + len(part)])
        start += len(part)
    return split
