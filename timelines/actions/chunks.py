"""Cuts big fan-outs into chunks, and pushes the chunks one by one."""

import structlog
from django.conf import settings
from prometheus_client import Counter

from infra.changes.registry import FollowUp
from relations.queries.followers import iter_followers, list_bounds
from timelines.actions.fan_out import push
from timelines.changes import ChunkCut, FanOutBegun, ShardMissed
from timelines.recent.factory import recent_index

# A dispatch keeps its lane busy for this many chunks; then other authors' changes come first.
CHUNKS_PER_DISPATCH = 10
CHUNKS = Counter("tideline_fan_out_chunks_total", "Chunks of big fan-outs that were pushed")
FOLLOWERS = Counter("tideline_fan_out_followers_total", "Followers in them")
log = structlog.get_logger()


def cut_chunks(author_id: int, begun: FanOutBegun) -> list[FollowUp]:
    """The next chunks, and after them a change for the rest of the followers, if any.

    Cost: one index-only scan of as many followers as the chunks have.
    """
    size = settings.CHUNK_FOLLOWERS
    bounds = list_bounds(author_id, begun.below, size, CHUNKS_PER_DISPATCH)
    is_rest = len(bounds) < CHUNKS_PER_DISPATCH
    ends = [*bounds, None] if is_rest else bounds
    starts = [begun.below, *bounds]
    pieces = zip(starts, ends, strict=False)
    chunks = [ChunkCut(begun.entries, begun.shards, below, last) for below, last in pieces]
    follow_ups = [FollowUp(author_id, chunk) for chunk in chunks]
    if not is_rest:
        further = FanOutBegun(begun.entries, begun.shards, below=bounds[-1])
        follow_ups.append(FollowUp(author_id, further))
    return follow_ups


def push_chunk(author_id: int, chunk: ChunkCut) -> list[FollowUp]:
    """Pushes to the live readers among a chunk's followers, page by page, and settles the entries.

    Returns follow-up changes for shards that could not settle them. Safety: may run again. Cost: a
    page of followers and a push for FOLLOWERS_A_PAGE; as the index.
    """
    reached = 0
    for followers in iter_followers(author_id, chunk.below, chunk.last):
        push(chunk.entries, followers, chunk.shards)
        reached += len(followers)
    unsettled = recent_index().settle(chunk.shards, [entry.event for entry in chunk.entries])
    CHUNKS.inc()
    FOLLOWERS.inc(reached)
    log.info("fan_out.chunk_pushed", author_id=author_id, followers=reached)
    return [FollowUp(author_id, ShardMissed(chunk.entries, shard)) for shard in unsettled]
