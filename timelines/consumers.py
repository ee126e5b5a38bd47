"""Consumers of timelines: push new posts, and apply changes of following lists."""

from collections.abc import Mapping, Sequence

from django.db import InterfaceError, OperationalError

from infra.caching.round_trips import run_together
from infra.changes.errors import WholeBatchFails
from infra.changes.registry import Delivery, FollowUp, consumes
from infra.clock import now_ms
from infra.sharding.shards import shard_aliases
from posts.changes import ImportEnded, PostCreated, PostsImported
from posts.external.queries.posts import load_imported
from posts.ids import PostId
from posts.types import Kind, Visibility
from relations.changes import EdgeChanged
from relations.queries.edges import KnownFollow, load_forward_edges
from relations.types import NO_EDGE
from timelines.actions.change_following import change_following
from timelines.actions.chunks import cut_chunks, push_chunk
from timelines.actions.fan_out import fan_out, fan_out_to_missed_shard
from timelines.changes import ChunkCut, FanOutBegun, ShardMissed
from timelines.hot.queries.hot_authors import list_unpushed_authors
from timelines.imported import drop_next_timelines, enter_imported
from timelines.stores.factory import timeline_store
from timelines.types import Entry

Posted = Sequence[Delivery[PostCreated]]
Edges = Sequence[Delivery[EdgeChanged]]


@consumes(PostCreated, inline=True, once=True)
def push_to_author(alias: str, deliveries: Posted) -> None:
    """Pushes a post to its author's own home timeline, so that the next read has it.

    It is not indexed yet: a reader's own posts are pulled from the posts table.
    """
    posted = _entries_by_author(deliveries)
    # After the caches: who sees the entry must find the post.
    run_together([], lambda _: timeline_store().push(posted))


@consumes(PostCreated)
def push_to_followers(alias: str, deliveries: Posted) -> list[FollowUp]:
    """Pushes posts to the authors' followers.

    Returns follow-up changes for big fan-outs, and for shards that do not answer.
    """
    posted = _entries_by_author(deliveries)
    if not posted:
        return []
    return fan_out(posted, shard_aliases(), list_unpushed_authors(alias, posted))


@consumes(FanOutBegun)
def dispatch_fan_outs(alias: str, deliveries: Sequence[Delivery[FanOutBegun]]) -> list[FollowUp]:
    """Cuts big fan-outs into chunks."""
    return [
        follow_up
        for delivery in deliveries
        for follow_up in cut_chunks(delivery.owner_id, delivery.payload)
    ]


@consumes(ChunkCut)
def push_to_chunks(alias: str, deliveries: Sequence[Delivery[ChunkCut]]) -> list[FollowUp]:
    """Pushes posts to the followers of each chunk."""
    return [
        follow_up
        for delivery in deliveries
        for follow_up in push_chunk(delivery.owner_id, delivery.payload)
    ]


@consumes(ShardMissed)
def push_to_missed_shards(
    alias: str, deliveries: Sequence[Delivery[ShardMissed]]
) -> list[FollowUp]:
    """Indexes and pushes what a shard missed. Raises while the shard does not answer.

    Raises WholeBatchFails if all deliveries are for this shard: then they are retried together.
    """
    missed: dict[str, dict[int, list[Entry]]] = {}
    for delivery in deliveries:
        posted = missed.setdefault(delivery.payload.shard, {})
        posted.setdefault(delivery.owner_id, []).extend(delivery.payload.entries)
    try:
        return [
            follow_up
            for shard, posted in missed.items()
            for follow_up in fan_out_to_missed_shard(
                posted, shard, list_unpushed_authors(alias, posted)
            )
        ]
    except (OperationalError, InterfaceError) as error:
        if len(missed) > 1:
            raise
        raise WholeBatchFails(str(error)) from error


@consumes(PostsImported)
def enter_imported_posts(
    alias: str, deliveries: Sequence[Delivery[PostsImported]]
) -> list[FollowUp]:
    """Pushes imported posts of the last hour, and indexes recent ones. As `enter_imported`."""
    return [
        follow_up
        for delivery in deliveries
        for follow_up in enter_imported(alias, load_imported(delivery.payload), now_ms() / 1000)
    ]


@consumes(ImportEnded)
def drop_live_timelines(alias: str, deliveries: Sequence[Delivery[ImportEnded]]) -> list[FollowUp]:
    """Drops the live timelines of the next accounts, which may lack imported posts."""
    nexts = (drop_next_timelines(alias, delivery.payload.after) for delivery in deliveries)
    return [follow_up for follow_up in nexts if follow_up is not None]


@consumes(EdgeChanged)
def apply_following_changes(alias: str, deliveries: Edges) -> None:
    """Adds a new followee's posts to the follower's timeline; removes those of a former followee.

    This runs after the backward edge was written: posts from before that are found here, later
    posts are pushed. Until then the timeline is older than the following list, and a page that
    needs it computes it again.
    Cost: a query, and `change_following` for each delivery.
    """
    for delivery, known in zip(deliveries, _known_follows(alias, deliveries), strict=True):
        change_following(delivery.owner_id, delivery.payload, known)


def _known_follows(alias: str, deliveries: Edges) -> list[KnownFollow]:
    """What the shard has now: that is at least as new as all of these changes. One query, which
    consumers of one batch share."""
    pairs = [(delivery.owner_id, delivery.payload.followee_id) for delivery in deliveries]
    edges = load_forward_edges(alias, pairs)
    versions: dict[int, int] = {}
    for delivery in deliveries:
        version = versions.get(delivery.owner_id, 0)
        versions[delivery.owner_id] = max(version, delivery.payload.after)
    return [KnownFollow(edges.get(p, NO_EDGE).is_follow, versions[p[0]]) for p in pairs]


def _entries_by_author(deliveries: Posted) -> Mapping[int, Sequence[Entry]]:
    """Without direct posts, which are in no timeline."""
    groups: dict[int, list[Entry]] = {}
    for delivery in deliveries:
        if delivery.payload.visibility == Visibility.DIRECT:
            continue
        groups.setdefault(delivery.owner_id, []).append(_entry(delivery))
    return groups


def _entry(delivery: Delivery[PostCreated]) -> Entry:
    post_id = PostId.at(delivery.owner_id, delivery.payload.moment)
    target = delivery.payload.target
    if target is None or target.kind != Kind.REPOST:
        return Entry.of_post(post_id)
    return Entry(post_id, target.post_id)
