"""Mirroring: backward edges and follower counts, written from forward edges.

A block is mirrored too, and it ends the opposite follow: both rows are on the shard of the blocked
account. On the blocker's own shard the block hides that follow at once (`hide_follower`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import structlog
from django.db import transaction
from redis.exceptions import RedisError

from counters.cache import account_counts, entry_of, load_settled_entry
from counters.queries.counts import Subject
from counters.types import ACCOUNT
from infra.caching.client import Command, redis
from infra.caching.lists import ListChange
from infra.caching.values import Versioned
from infra.changes.append import AppendedChange, announce, change_columns
from infra.changes.errors import UNREACHABLE
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, named_call
from infra.telemetry.reached_branches import reached
from relations.actions.write_edge import write_edge
from relations.cache import (
    FOLLOWERS,
    OPEN_FOLLOWS,
    list_change,
    relationship_changes,
    split_by_attribute,
)
from relations.changes import FollowersPostponed
from relations.counter_rows import BACKWARD_KINDS
from relations.queries.edges import Pair, edge_of, get_edge
from relations.states import Transition, ends_follow, last_block_turn, step
from relations.types import NO_EDGE, Edge

log = structlog.get_logger()

# The function and its rows: relations/functions.sql
PARAMETERS = (
    *("followers", "followees", "attributes", "revisions", "sinces_ms", "all_flags"),
    *("cold", "states", "kinds", "locks_accounts", "lane", "change", "payload"),
)
MIRROR = f"SELECT * FROM {named_call('relations_mirror', PARAMETERS)}"  # noqa: S608
COUNTED = [[int(state), int(kind)] for state, kinds in BACKWARD_KINDS.items() for kind in kinds]
STATES, KINDS = ([*column] for column in zip(*COUNTED, strict=True))


class MirroredFollowee(NamedTuple):
    """One followee after mirroring: the version of the followers list, the updated edges, and the
    entry of the account's counts in the cache.

    `version` None: the moves were postponed, so the list gets its next version later. `counts`
    None: they are to be read after the commit.
    """

    version: int | None
    updated: dict[int, Edge]  # by follower
    counts: Versioned | None = None


class BackwardUpdate(NamedTuple):
    """One backward edge before and after, and the opposite edge: followee to follower."""

    old: Edge
    new: Edge
    opposite: Edge


class WrittenEdges(NamedTuple):
    """What a call of the function has written."""

    updates: dict[Pair, BackwardUpdate]
    followees: dict[int, MirroredFollowee]


def mirror_on_shard(
    alias: str,
    forward: Mapping[Pair, Edge],
    hot: Collection[Subject] = frozenset(),
) -> dict[int, MirroredFollowee]:
    """Writes those of the edges that are newer than what the followees' shard has.

    Returns all followees, also those without an update, but for hot ones. `hot`: subjects of counts
    that are written very often; their moves are postponed.
    Safety: one transaction. It locks the followers counts first, as a block does, so it sees all
    blocks; and it knows the old row of each edge, so each edge is counted once. Without that lock,
    for hot counts, `fold_follower_moves` looks for blocks. The order of all locks is in
    docs/explanation/architecture.md.
    Cost: one statement for any number of edges. If one of them is or was a block, a transaction,
    and a statement more for each block that ends a follow.
    """
    if not any(map(last_block_turn, forward.values())):
        return _write(alias, forward, hot).followees
    with transaction.atomic(using=alias):
        written = _write(alias, forward, hot, locks_accounts=True)
        _end_follows_of_the_blocked(alias, written.updates)
    return written.followees


def build_mirrored(
    versions: Mapping[int, int | None], updated: Mapping[Pair, Edge]
) -> dict[int, MirroredFollowee]:
    """The followees with these versions, and their updated edges."""
    mirrored = {i: MirroredFollowee(version, {}) for i, version in versions.items()}
    for (follower_id, followee_id), edge in updated.items():
        mirrored[followee_id].updated[follower_id] = edge
    return mirrored


def hide_follower(alias: str, follower_id: int, followee_id: int) -> dict[int, MirroredFollowee]:
    """Hides a follower from the followee who blocks them, in the transaction of the block.

    The caller holds the followee's row lock. Returns the argument for `refresh_followers`, empty
    when there was no follow. Safety: locks the followers count, so that no follow is mirrored at
    the same time. Cost: one statement.
    """
    # No edge is newer than what is there, and what is there is hidden.
    written = _write(alias, {(follower_id, followee_id): NO_EDGE})
    return written.followees if written.updates else {}


def refresh_followers(
    mirrored: Mapping[int, MirroredFollowee], before: Sequence[Command] = ()
) -> None:
    """Brings cached followers lists and counts up to the rows. Raises RedisError: try again.

    `before`: commands that run first. Cost: a round trip, which it may share, and a query for each
    followee whose counts are not known.
    """
    # A count whose moves were postponed has not changed yet.
    entries = {
        i: load_settled_entry(i) if m.counts is None else m.counts
        for i, m in mirrored.items()
        if m.version is not None
    }
    account_counts.refresh(entries, [*before, *list_commands(mirrored)])


def refresh_mirrored(items: Sequence[tuple[Pair, Mapping[int, MirroredFollowee]]]) -> None:
    """Brings the caches of followees up to the rows, after the edges of these pairs were mirrored.

    Raises RedisError: try again.
    """
    redis().run(relationship_changes(pair[::-1] for pair, _ in items))
    refresh_lists([mirrored for _, mirrored in items])


def refresh_lists(items: Sequence[Mapping[int, MirroredFollowee]]) -> None:
    """`refresh_followers` for the results of several transactions."""
    for mirrored in items:
        refresh_followers(mirrored)


def mirror_now(follower_id: int, followee_id: int) -> bool:
    """Mirrors one edge before the answer, for callers who see its other side.

    False: the followee's shard could not be reached, and the drain will do it.
    """
    edge = get_edge(shard_of(follower_id), follower_id, followee_id)
    if not edge.revision:
        return True
    try:
        mirrored = mirror_on_shard(shard_of(followee_id), {(follower_id, followee_id): edge})
        failpoint("relations.mirrored_now")
        redis().send(refresh_mirrored, items=[((follower_id, followee_id), mirrored)])
    except (*UNREACHABLE, RedisError) as error:
        reached("relations.mirror_left_to_drain")
        log.warning("relations.mirror_left_to_drain", account=followee_id, error=str(error))
        return False
    return True


def list_commands(mirrored: Mapping[int, MirroredFollowee]) -> list[Command]:
    """Bring the cached followers lists up to the rows. They may run twice or late."""
    # A list whose moves were postponed is dropped: its rows changed and its version did not.
    return [
        FOLLOWERS.drop_command(followee_id)
        if edge.version is None
        else FOLLOWERS.change_command(followee_id, _list_change(edge.version, edge.updated))
        for followee_id, edge in mirrored.items()
    ]


def _list_change(version: int, updated: Mapping[int, Edge]) -> ListChange:
    """Without an update the cached list has this version, or is older and is dropped."""
    added, removed = split_by_attribute(updated, OPEN_FOLLOWS)
    return list_change(version - 1 if updated else version, version, added, removed)


def _write(
    alias: str,
    forward: Mapping[Pair, Edge],
    hot: Collection[Subject] = frozenset(),
    locks_accounts: bool = False,
) -> WrittenEdges:
    rows = sorted(
        (followee, follower, *edge.mirrored) for (follower, followee), edge in forward.items()
    )
    followees, followers, *facts = ([int(v) for v in column] for column in zip(*rows, strict=True))
    cold = [i for i in dict.fromkeys(followees) if (i, ACCOUNT) not in hot]
    # The folded lane is the same for all owners.
    change = change_columns(0, FollowersPostponed())
    values = (followers, followees, *facts, cold, STATES, KINDS, locks_accounts, *change)
    return _read(alias, fetch_all(alias, MIRROR, values))


def _read(alias: str, rows: Iterable[Sequence[Any]]) -> WrittenEdges:
    """Announces the changes that add postponed moves up."""
    updates, versions, counts = {}, {}, {}
    for follower, followee, old, edge, opposite, version, entry, change_id, at in rows:
        if follower is not None:
            states = (_edge_of(columns) for columns in (old, edge, opposite))
            updates[follower, followee] = BackwardUpdate(*states)
            continue
        versions[followee] = version
        if entry is not None:
            counts[followee] = entry_of(entry)
        if change_id is not None:
            reached("relations.moves_postponed")
            announce(alias, followee, FollowersPostponed(), AppendedChange(change_id, at))
    mirrored = build_mirrored(versions, {pair: update.new for pair, update in updates.items()})
    return WrittenEdges(updates, {i: m._replace(counts=counts.get(i)) for i, m in mirrored.items()})


def _edge_of(columns: Sequence[int] | None) -> Edge:
    return NO_EDGE if columns is None else edge_of(columns)


def _end_follows_of_the_blocked(alias: str, updates: Mapping[Pair, BackwardUpdate]) -> None:
    """Ends the follows that the blocked accounts have of their blockers. Their rows are locked.

    A block that was taken back before it was mirrored ends those that began before its end: unblock
    restores nothing.
    """
    for (blocker_id, blocked_id), (old, new, opposite) in updates.items():
        if ends_follow(opposite, old, new):
            reached("relations.follow_ended_by_block")
            ended = step(opposite, Transition.UNFOLLOW, new.since_ms)
            write_edge(alias, blocked_id, blocker_id, opposite, ended)
