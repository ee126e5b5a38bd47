"""Which of these accounts posted between two posts? Answered from the last-post index.

If the account's latest post is older than the end of the range, it decides. Otherwise the history
does: a period inside the range says yes, and no period that touches the range says no.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from posts.ids import PostId
from timelines.increments.last_post_index import (
    HISTORY_PERIODS,
    LATEST_SHIFT,
    PERIOD_S,
    HeaderWord,
    LastPostIndex,
)
from timelines.increments.queries import AccountIds

COMPLETE_FROM = int(HeaderWord.COMPLETE_FROM)
SECOND_SHIFT = LATEST_SHIFT + 1


class PostsBetween(NamedTuple):
    """`certain`: accounts with a post in the range, the account with the newest post first.
    `perhaps`: accounts of which the index cannot tell."""

    certain: list[int]
    perhaps: list[int]


def find_authors_between(
    index: LastPostIndex, account_ids: AccountIds, since: PostId, until: PostId
) -> PostsBetween | None:
    """The accounts with a post newer than `since` and older than `until`.

    None: posts of the range may be unknown. A post counts in its own second; one that arrived more
    than LAG_S late also LAG_S before it arrived. A deleted post still counts. Cost: no store; grows
    with the number of accounts that posted after `since`.
    """
    if since.second < index.header[COMPLETE_FROM]:
        return None
    if not len(account_ids) or until <= since:
        return PostsBetween([], [])
    cells = np.empty(len(account_ids), np.uint64)
    index.cells.take(account_ids, None, cells, "clip")
    lowest = since.second << SECOND_SHIFT
    if cells.item(cells.argmax()) < lowest:
        return PostsBetween([], [])
    places = (cells >= np.uint64(lowest)).nonzero()[0]
    placed = zip(cells[places].tolist(), account_ids[places].tolist(), strict=True)
    return _decide(placed, since, until)


def _decide(placed: Iterable[tuple[int, int]], since: PostId, until: PostId) -> PostsBetween:
    """For cells and accounts with a post in the second of `since` or later."""
    above, below = since[:2], until[:2]
    certain, perhaps = [], []
    for cell, account_id in placed:
        latest = cell >> SECOND_SHIFT, account_id
        if above < latest < below:
            is_posted: bool | None = True
        elif latest < below:
            # In the second of `since`, and its author has posts after the first one.
            is_posted = None if latest == above and cell >> LATEST_SHIFT & 1 else False
        else:
            is_posted = _look_back(cell, since, until)
        if is_posted:
            certain.append(latest)
        elif is_posted is None:
            perhaps.append(account_id)
    return PostsBetween([account_id for _, account_id in sorted(certain, reverse=True)], perhaps)


def _look_back(cell: int, since: PostId, until: PostId) -> bool | None:
    """Whether the history has a post in the range; None: it cannot tell."""
    latest = (cell >> SECOND_SHIFT) // PERIOD_S
    first, last = since.second // PERIOD_S, until.second // PERIOD_S
    # All posts of a second belong to the range if `since` is no post, as PostId(second, 0, 0).
    first_inside = -(-(since.second + (since.author_id > 0)) // PERIOD_S)
    if _has_bit(cell, latest - last + 1, latest - first_inside):
        return True
    is_beyond = latest - first >= HISTORY_PERIODS
    return None if is_beyond or _has_bit(cell, latest - last, latest - first) else False


def _has_bit(cell: int, lowest: int, highest: int) -> bool:
    """Whether the history has one of these bits, both included."""
    lowest, highest = max(lowest, 0), min(highest, HISTORY_PERIODS - 1)
    return lowest <= highest and cell >> lowest & (1 << highest - lowest + 1) - 1 != 0
