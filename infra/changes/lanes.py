"""Which lane of a database carries a change, and how much a drain takes from it at a time.

    0 … 63     ordinary: the first CHANGE_LANES are used
    64 … 127   bulk: the first BULK_LANES of these
    128        waiting: what waits for one shard to come back
    256 + n    held: rows of paused kinds that belong to lane n, drained by nobody (pausing.py)

The groups keep their numbers whatever the settings are, so a lane is always drained as what it is.
"""

from enum import IntEnum

from django.conf import settings

PAUSED_OFFSET = 256
_64_BITS = (1 << 64) - 1


class LaneGroup(IntEnum):
    """A group of lanes by its first number."""

    ORDINARY = 0
    BULK = 64
    WAITING = 128


def lane_of(owner_id: int, group: LaneGroup = LaneGroup.ORDINARY) -> int:
    """The owner's lane in this group. Rows already written stay on the lane they were given."""
    return group + mix(owner_id) % _lane_count(group)


def all_lanes() -> list[int]:
    return [group + n for group in LaneGroup for n in range(_lane_count(group))]


def group_of(lane: int) -> LaneGroup:
    return max(group for group in LaneGroup if group <= lane)


def batch_size(lane: int) -> int:
    """How many rows a drain takes together. Bulk rows are big: a crash repeats one of them."""
    return 1 if group_of(lane) is LaneGroup.BULK else settings.CHANGE_BATCH_SIZE


def mix(number: int) -> int:
    """64 bits that have nothing in common with the number's own: murmur3's finalizer.

    An id's low bits choose its shard. Lanes chosen by the same bits would leave a shard with 4
    neighbours only one of its 2 lanes. Never to change. Example: mix(1) = 12994781566227106604.
    """
    number ^= number >> 33
    number = number * 0xFF51AFD7ED558CCD & _64_BITS
    number ^= number >> 33
    number = number * 0xC4CEB9FE1A85EC53 & _64_BITS
    return number ^ number >> 33


def _lane_count(group: LaneGroup) -> int:
    counts = {LaneGroup.ORDINARY: settings.CHANGE_LANES, LaneGroup.BULK: settings.BULK_LANES}
    return counts.get(group, 1)
