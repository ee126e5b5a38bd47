"""Days in the text of a search: `after:2026-11-01`, `before:2026-12-01` and `during:2026-11-22`."""

import re
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from posts.ids import EPOCH, FIRST, LAST, MAX_SECOND, PostId

_WORD = re.compile(r"(after|before|during):(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_DAY_S = 86_400
_DAY_0 = date(1970, 1, 1).toordinal() + EPOCH // _DAY_S


class DayRange(NamedTuple):
    """The posts of some days: those strictly between two ids."""

    above: PostId = FIRST
    below: PostId = LAST


def read_days(word: str) -> DayRange | None:
    """The posts that a word asks for; None: it names no day.

    Days are days of UTC. `after` and `before` leave out their day, as in Mastodon.
    """
    match = _WORD.fullmatch(word)
    try:
        day = date.fromisoformat(match[2]) if match else None
    except ValueError:
        day = None
    if match is None or day is None:
        return None
    start = (day.toordinal() - _DAY_0) * _DAY_S
    begin, end = _first_id(start), _first_id(start + _DAY_S)
    ranges = {
        "after": DayRange(above=end),
        "before": DayRange(below=begin),
        "during": DayRange(begin, end),
    }
    return ranges[match[1].lower()]


def intersect(ranges: Iterable[DayRange]) -> DayRange:
    """The posts that are in all of them."""
    aboves, belows = zip(DayRange(), *ranges, strict=True)
    return DayRange(max(aboves), min(belows))


def _first_id(second: int) -> PostId:
    """Before all posts of this second, which may be outside the years that ids can hold."""
    return PostId(min(max(second, 0), MAX_SECOND), 0, 0)
