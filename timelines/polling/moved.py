"""Floors of readers whose rows moved to another shard: they are times of the shard before.

The index of the other shard has the same posts, but they arrived there at other times. So for
cursors from before a move the floor is earlier. Then posts may be repeated; none is lost.
"""

from infra.sharding.buckets import moved_at_ms
from posts.ids import PostId

# Between the arrivals of one post on two shards: both answered when buckets moved between them.
MOVE_MARGIN_MS = 60_000
# Clocks of databases differ by less.
SKEW_MS = 1_000


def floor_after_move(owner_id: int, cursor: PostId, floor: int | None) -> int | None:
    """The floor to ask the owner's shard with. `floor` None: not known. No query."""
    moved_ms = moved_at_ms(owner_id)
    known = cursor.posted_at_s * 1000 if floor is None else floor
    if moved_ms is None or known > moved_ms + SKEW_MS:
        return floor
    return known - SKEW_MS - MOVE_MARGIN_MS
