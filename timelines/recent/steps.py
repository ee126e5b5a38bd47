"""How far a pull looks at once: first an hour, then ever longer, until it has enough.

Somebody who follows thousands has a page within the first step, somebody who follows few reads
next to nothing in any of them; so nobody's pull reads and sorts a week for a page.
"""

from collections.abc import Sequence
from itertools import pairwise

from posts.ids import SEQUENCES

# Ends of the steps, in seconds from where the pull begins; the last reaches as far as there is.
ENDS_S = (3_600, 4 * 3_600, 16 * 3_600, 64 * 3_600)
Steps = list[tuple[int, int]]  # moments from the first to below the second


def steps_down(lower: int, upper: int, now: int, ends_s: Sequence[int] = ENDS_S) -> Steps:
    """Newest first, from `upper` (or now, where that is earlier) down to `lower`; all moments."""
    begin = min(upper, now)
    cuts = [cut for end_s in ends_s if lower < (cut := begin - end_s * SEQUENCES)]
    return [(low, high) for high, low in pairwise([upper, *cuts, lower])]


def steps_up(lower: int, upper: int) -> Steps:
    """Oldest first, from `lower` to `upper`; all moments."""
    cuts = [cut for end_s in ENDS_S if (cut := lower + end_s * SEQUENCES) < upper]
    return list(pairwise([lower, *cuts, upper]))
