"""May the viewer see a post now? Pure: plain values in, verdicts out."""

from collections.abc import Mapping

from posts.ids import PostId
from relations.types import STRANGER, Standing


def may_see(event: PostId, original: PostId, standings: Mapping[int, Standing]) -> bool:
    """Neither who posted it nor who reposted it blocks the viewer, or is blocked by them.

    `standings`: between the viewer and others; empty for who has not signed in.
    """
    return not any(
        standings.get(author_id, STRANGER).is_blocked
        for author_id in {event.author_id, original.author_id}
    )
