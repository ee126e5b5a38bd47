"""The lane of a change on its database, and how many rows a drain takes from it at a time.

    0 … 63     ordinary: the first CHANGE_LANES are used
    64 … 127   bulk: the first BULK_LANES of these
    128        waiting: changes that wait for one shard to come back
    160        imported: what imports wrote, thousands of rows a change
    192        folded: many changes to one row that become one write in each throttle time
    224        outside: requests to servers of others, which may be slow
    256 + n    paused: rows of paused kinds of lane n; they are not drained (pausing.py)

The numbers of the groups do not depend on settings, so rows written earlier keep their meaning.
"""

from collections.abc import Iterable
from enum import IntEnum

from django.conf import settings

# Changes that are delivered together.
CHANGE_BATCH_SIZE = 500
PAUSED_OFFSET = 256
_64_BITS = (1 << 64) - 1


class LaneGroup(IntEnum):
    """A group of lanes by its first number."""

    ORDINARY = 0
    BULK = 64
    WAITING = 128
    IMPORTED = 160
    FOLDED = 192
    OUTSIDE = 224


# Their rows are about thousands of others.
BIG_ROWS = (LaneGroup.BULK, LaneGroup.IMPORTED)
# A drainer has a thread for each of these on each database.
THREADS = (
    (LaneGroup.ORDINARY,),
    (LaneGroup.BULK, LaneGroup.WAITING, LaneGroup.FOLDED),
    (LaneGroup.OUTSIDE,),
    (LaneGroup.IMPORTED,),
)


def lane_of(owner_id: int, group: LaneGroup = LaneGroup.ORDINARY) -> int:
    """The lane of an owner in this group. A new CHANGE_LANES does not move rows."""
    return group + mix(owner_id) % _lane_count(group)


def all_lanes(groups: Iterable[LaneGroup] = LaneGroup) -> list[int]:
    """The lanes in use, of all groups or of these."""
    return [group + n for group in groups for n in range(_lane_count(group))]


def group_of(lane: int) -> LaneGroup:
    return max(group for group in LaneGroup if group <= lane)


def batch_size(lane: int) -> int:
    """How many rows a drain takes together. Big rows come one by one: a crash repeats only one."""
    return 1 if group_of(lane) in BIG_ROWS else CHANGE_BATCH_SIZE


def mix(number: int) -> int:
    """A 64-bit hash of a number: the finalizer of murmur3. It must never change.

    The low bits of an id choose the shard. If they chose the lane too, each of 4 shards would use
    only one of its 2 lanes. Example: mix(1) = 12994781566227106604.
    """
    number ^= number >> 33
    number = number * 0xFF51AFD7ED558CCD & _64_BITS
    number ^= number >> 33
    number = number * 0xC4CEB9FE1A85EC53 & _64_BITS
    return number ^ number >> 33


def _lane_count(group: LaneGroup) -> int:
    counts = {LaneGroup.ORDINARY: settings.CHANGE_LANES, LaneGroup.BULK: settings.BULK_LANES}
    return counts.get(group, 1)
