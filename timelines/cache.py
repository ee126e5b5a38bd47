"""The cache of the public timeline. Live home timelines are in stores/."""

import time
from collections.abc import Mapping, Sequence

from infra.caching.values import ValueCache, Versioned
from posts.ids import PACKED_BYTES, PostId
from timelines.recent.queries.public_posts import list_newest_public

# The public timeline is at most this old. It is shown while one process reads it again.
TTL_S = 10
# The newest posts that are read, and the public ones of them that are listed.
NEWEST, MOST_LISTED = 1_200, 400
# The cache has one owner.
ALL_AUTHORS = 0


def load_public_ids() -> list[PostId]:
    """At most MOST_LISTED public posts, newest first. Cost: at most one round trip when warm."""
    packed = public_ids.load_many([ALL_AUTHORS]).get(ALL_AUTHORS, b"")
    return [PostId.from_packed(packed, n) for n in range(0, len(packed), PACKED_BYTES)]


def _load(owners: Sequence[int]) -> Mapping[int, Versioned]:
    version = int(time.time() * 1000)
    packed = b"".join(post_id.packed for post_id in list_newest_public(NEWEST)[:MOST_LISTED])
    return {owner: Versioned(version, packed) for owner in owners}


public_ids = ValueCache("timelines.public:v1", TTL_S, _load)
