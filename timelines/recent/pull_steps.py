"""The steps of a pull: it searches one hour first, then longer and longer times, until it has
enough entries.

A reader with thousands of followees has a page after the first step. A reader with few followees
reads few rows in any step. So no pull reads and sorts a week of posts for one page.
"""

from collections.abc import Sequence
from itertools import pairwise

from posts.ids import SEQUENCES

# Ends of the steps, in seconds from the start of the pull. The last step has no such end.
ENDS_S = (3_600, 4 * 3_600, 16 * 3_600, 64 * 3_600)
Steps = list[tuple[int, int]]  # moments: from the first to below the second


def steps_down(lower: int, upper: int, now: int, ends_s: Sequence[int] = ENDS_S) -> Steps:
    """Steps from `upper` (or `now`, if that is earlier) down to `lower`. All are moments."""
    begin = min(upper, now)
    cuts = [cut for end_s in ends_s if lower < (cut := begin - end_s * SEQUENCES)]
    return [(low, high) for high, low in pairwise([upper, *cuts, lower])]


def steps_up(lower: int, upper: int, ends_s: Sequence[int] = ENDS_S) -> Steps:
    """Steps from `lower` up to `upper`. All are moments."""
    cuts = [cut for end_s in ends_s if (cut := lower + end_s * SEQUENCES) < upper]
    return list(pairwise([lower, *cuts, upper]))
