"""After the faults: everything is healed, and what waits must be delivered in time."""

import time
from typing import NamedTuple

from lab.faults.cluster.cluster import Cluster

WITHIN_S = 30.0
ASK_EVERY_S = 0.1


class Quiet(NamedTuple):
    """`undelivered`: what was left when the time was over. Nothing is left: an empty dictionary."""

    drained_s: float
    undelivered: dict[str, int]


def heal_and_drain(cluster: Cluster, within_s: float = WITHIN_S) -> Quiet:
    """Heals everything and returns when no change waits, or after `within_s`."""
    cluster.heal()
    began_s = time.monotonic()
    while left := {name: count for name, count in cluster.count_undelivered().items() if count}:
        if time.monotonic() - began_s > within_s:
            break
        time.sleep(ASK_EVERY_S)
    return Quiet(time.monotonic() - began_s, left)
