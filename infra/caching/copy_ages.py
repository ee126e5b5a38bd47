"""How old copies in process memory may be.

A change publishes an invalidation, which ends its copies in every process. Redis sends published
messages in order, and closes a connection rather than leave one out. So an answer to a PING on the
listener's connection proves that the process has all invalidations from before the PING. While
the proof is young, a copy may be old: nothing has changed since. Without it, age is the only limit.
"""

from collections.abc import Callable
from typing import NamedTuple

from infra.caching.listener import LISTENER


class AgeLimit(NamedTuple):
    """`unproved_s`: the greatest age without a proof. `proved_s`: with one.

    `is_proved`: gets the time by `time.monotonic`.
    """

    unproved_s: float
    proved_s: float
    is_proved: Callable[[float], bool] = LISTENER.has_all

    def oldest(self, now: float) -> float:
        """Copies that were asked for after this time may be used."""
        return now - (self.proved_s if self.is_proved(now) else self.unproved_s)


# A page may show names and counts of a second ago. A change that sends no invalidation would be a
# mistake; the second figure bounds how long it is seen.
NAMES_AND_COUNTS = AgeLimit(1.0, 30.0)
