"""What is cached of timelines beside the live ones (stores/): the newest posts of everybody."""

import time
from collections.abc import Mapping, Sequence

from infra.caching.values import ValueCache, Versioned
from posts.ids import PACKED_BYTES, PostId
from timelines.recent.queries.public_posts import list_newest_public

# So late the public timeline is at most; it is shown as it is while one process reads it anew.
TTL_S = 10
# Looked at, and of those listed.
NEWEST, MOST_LISTED = 1_200, 400
EVERYBODY = 0


def load_public_ids() -> list[PostId]:
    """At most MOST_LISTED public posts, newest first. Cost: one round trip, none when hot."""
    packed = public_ids.load_many([EVERYBODY]).get(EVERYBODY, b"")
    return [PostId.from_packed(packed, n) for n in range(0, len(packed), PACKED_BYTES)]


def _load(owners: Sequence[int]) -> Mapping[int, Versioned]:
    version = int(time.time() * 1000)
    packed = b"".join(post_id.packed for post_id in list_newest_public(NEWEST)[:MOST_LISTED])
    return {owner: Versioned(version, packed) for owner in owners}


public_ids = ValueCache("timelines.public:v1", TTL_S, _load)
