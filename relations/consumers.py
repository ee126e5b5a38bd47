"""Consumers of changed edges and mutes: caches of the owner first, then the followee's side.

The relationship cache, which rules read, is first. Then the follower's own lists. So an unreachable
shard of a followee delays neither.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from accounts.changes import ProfileChanged
from counters.cache import (
    account_counts,
    entry_of,
    refresh_account_counts,
)
from counters.hot_counts import find_hot_counts
from counters.kinds import CounterKind
from counters.queries.counts import Subject
from counters.types import ACCOUNT
from infra.caching.client import Command, redis
from infra.caching.lists import ListCache, ListChange, change_lists
from infra.caching.round_trips import run_together
from infra.caching.viewer_validators import ViewerField, drop_validator_commands
from infra.changes.failpoints import failpoint
from infra.changes.own_acts import settle_own_acts
from infra.changes.registry import Delivery, FollowUp, consumes
from relations.actions.approve_waiting import approve_page, approve_requests, find_unlocked
from relations.actions.fold_followers import fold_follower_moves
from relations.actions.mirror import mirror_on_shard, refresh_followers
from relations.actions.mirror_imported import mirror_imported
from relations.cache import (
    FOLLOWING,
    QUIET,
    QUIET_FOLLOWS,
    list_change,
    relationship_changes,
    split_by_attribute,
)
from relations.changes import (
    EdgeChanged,
    ExclusiveMembersChanged,
    FollowersPostponed,
    FollowsImported,
    MuteChanged,
    NoteChanged,
    RequestsLeft,
    find_written_edges,
)
from relations.queries.edges import Pair, group_by_followee_shard, load_forward_edges
from relations.types import FOLLOWS, Edge, ListedAccount

Deliveries = Sequence[Delivery[EdgeChanged]]
RelationChange = EdgeChanged | MuteChanged | NoteChanged | ExclusiveMembersChanged


@consumes(EdgeChanged, MuteChanged, NoteChanged, ExclusiveMembersChanged, inline=True, once=True)
def forget_relationships(alias: str, deliveries: Sequence[Delivery[RelationChange]]) -> None:
    """Drops changed relationships from the cache, so the owners' next reads use their shard."""
    pairs = [(d.owner_id, other) for d in deliveries for other in _others(d.payload)]
    run_together(relationship_changes(pairs))


@consumes(EdgeChanged, inline=True, once=True)
def refresh_following_lists(alias: str, deliveries: Deliveries) -> None:
    """Brings the followers' own following lists and counts up to the rows."""
    forward = find_written_edges(deliveries) or load_forward_edges(alias, _pairs(deliveries))
    owner_ids = list(dict.fromkeys(delivery.owner_id for delivery in deliveries))
    run_together(
        [
            change_lists(delivery.owner_id, [*_iter_list_changes(delivery, forward)])
            for delivery in deliveries
        ]
    )
    run_together(drop_validator_commands(owner_ids, ViewerField.FOLLOWING), is_last=True)
    written = {d.owner_id: entry_of(d.written.counts) for d in deliveries if d.written is not None}
    account_counts.refresh(written)
    refresh_account_counts(owner_id for owner_id in owner_ids if owner_id not in written)


@consumes(EdgeChanged)
def mirror_backward_edges(alias: str, deliveries: Deliveries) -> None:
    """Brings backward edges, follower counts and followers lists up to the forward edges.

    Safety: idempotent and commutative: it writes the forward edge as it is now, and only over an
    older revision. It refreshes caches also when no row changed, because an earlier run may have
    died between rows and caches.
    """
    forward = load_forward_edges(alias, _pairs(deliveries))
    failpoint("relations.edges_read")
    groups = group_by_followee_shard(forward)
    hot = find_hot_counts(_subjects(forward))
    mirrored = [mirror_on_shard(target, group, hot=hot) for target, group in groups.items()]
    failpoint("relations.mirrored")
    # After all rows: they are written even when Redis is away.
    redis().run(_relationships(forward))
    for followees in mirrored:
        refresh_followers(followees)
    settle_own_acts(deliveries, [CounterKind.FOLLOWERS])
    _approve_needless_requests(forward)


def _approve_needless_requests(forward: Mapping[Pair, Edge]) -> None:
    """Approves the requests among the edges to accounts that were unlocked in the meantime.

    A request that is written while its followee is unlocked is found here, after it was mirrored,
    or by `approve_waiting_requests`. Cost: a query for each shard of requests, none without.
    """
    requests = {pair: edge for pair, edge in forward.items() if edge.is_request}
    for target, group in group_by_followee_shard(requests).items():
        unlocked = find_unlocked(target, {followee_id for _, followee_id in group})
        approve_requests(pair for pair in group if pair[1] in unlocked)


@consumes(FollowsImported)
def mirror_imported_follows(alias: str, deliveries: Sequence[Delivery[FollowsImported]]) -> None:
    """Brings backward edges, counts and caches up to imported follows. Safety and cost: as
    `mirror_imported`."""
    for delivery in deliveries:
        mirror_imported(delivery.payload.pairs)


@consumes(ProfileChanged, RequestsLeft)
def approve_waiting_requests(
    alias: str, deliveries: Sequence[Delivery[ProfileChanged | RequestsLeft]]
) -> list[FollowUp]:
    """Approves a page of the requests to each account that is not locked.

    Safety: idempotent; approved requests are no requests any more. Cost: one query, one more for
    each unlocked account, and as `approve_requests`.
    """
    unlocked = find_unlocked(alias, {delivery.owner_id for delivery in deliveries})
    below = {delivery.owner_id: _below(delivery.payload) for delivery in deliveries}
    # From the newest one: the account may have been locked and unlocked again.
    below |= dict.fromkeys(o.owner_id for o in deliveries if _below(o.payload) is None)
    left = {owner_id: approve_page(owner_id, below[owner_id]) for owner_id in sorted(unlocked)}
    return [FollowUp(o, RequestsLeft(*last)) for o, last in left.items() if last is not None]


def _below(change: ProfileChanged | RequestsLeft) -> ListedAccount | None:
    if not isinstance(change, RequestsLeft):
        return None
    return ListedAccount(change.since_ms, change.follower_id)


@consumes(FollowersPostponed)
def fold_followers(alias: str, deliveries: Sequence[Delivery[FollowersPostponed]]) -> None:
    """Brings followers counts and lists up to rows whose moves were postponed."""
    mirrored = fold_follower_moves(alias, {delivery.owner_id for delivery in deliveries})
    failpoint("relations.folded")
    refresh_followers(mirrored)


def _subjects(pairs: Iterable[Pair]) -> set[Subject]:
    return {(followee_id, ACCOUNT) for _, followee_id in pairs}


def _relationships(pairs: Iterable[Pair]) -> list[Command]:
    """Drop the followees' cached relationships with the followers."""
    return relationship_changes((followee, follower) for follower, followee in pairs)


def _others(change: RelationChange) -> Sequence[int]:
    if isinstance(change, ExclusiveMembersChanged):
        return change.account_ids
    return [change.followee_id if isinstance(change, EdgeChanged) else change.target_id]


def _pairs(deliveries: Deliveries) -> set[Pair]:
    return set(map(_pair, deliveries))


def _pair(delivery: Delivery[EdgeChanged]) -> Pair:
    return delivery.owner_id, delivery.payload.followee_id


def _iter_list_changes(
    delivery: Delivery[EdgeChanged], forward: Mapping[Pair, Edge]
) -> Iterator[tuple[ListCache, ListChange]]:
    """How the change shows in both lists of the follower."""
    changed = delivery.payload
    edges = {changed.followee_id: forward[delivery.owner_id, changed.followee_id]}
    for cache, attributes in ((FOLLOWING, FOLLOWS), (QUIET, QUIET_FOLLOWS)):
        added, removed = split_by_attribute(edges, attributes)
        yield cache, list_change(changed.before, changed.after, added, removed)
