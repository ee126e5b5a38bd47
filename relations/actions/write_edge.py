"""Writes one forward edge with its counts and its change, in one round trip."""

from collections.abc import Callable
from typing import NoReturn

from django.conf import settings

from accounts.errors import AccountNotFound
from counters.kinds import CounterKind
from counters.sql import account_counts_sql
from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.sql import fetch_one, named_call
from infra.telemetry.reached_branches import reached
from relations.cache import OPEN_FOLLOWS
from relations.changes import EdgeChanged
from relations.counter_rows import FORWARD_KINDS, iter_moves
from relations.errors import (
    CannotFollowBlocked,
    EdgeMoved,
    FollowCapReached,
    TooManyFollowsToday,
)
from relations.queries.edges import edge_of
from relations.queries.own_followers import find_seen_followers
from relations.types import NO_EDGE, Edge, WrittenEdge

# The function and its outcomes: relations/functions.sql
PARAMETERS = (
    *("follower", "followee", "expected"),
    *("new_attribute", "new_revision", "new_since_ms", "new_flags", "new_languages"),
    *("most_follows", "today", "most_today"),
    *("moved", "deltas"),
    *("lane", "change", "payload"),
)
WRITE = f"""
SELECT written.*, {account_counts_sql("%s")}
FROM {named_call("relations_write_edge", PARAMETERS)} AS written
"""  # noqa: S608
DAY_MS = 86_400_000


def change_edge(
    alias: str, follower_id: int, followee_id: int, seen: Edge, next_edge: Callable[[Edge], Edge]
) -> bool:
    """Writes `next_edge` of the edge as it is now; False when that changes nothing.

    `seen`: the edge as it probably is. If it is another one, `next_edge` is asked again. Without a
    change it finishes what an earlier call began. Raises: what `next_edge` raises, and as
    `write_edge`. Cost: a round trip and one statement; another for a wrong `seen`, and another
    without a change.
    """
    followers = find_seen_followers(follower_id, followee_id)
    while (changed := next_edge(seen)) != seen:
        try:
            write_edge(alias, follower_id, followee_id, seen, changed, followers)
        except EdgeMoved as error:
            reached("relations.edge_moved")
            seen = error.edge
        else:
            return True
    finish_interrupted(alias, follower_id)
    return False


def write_edge(
    alias: str,
    follower_id: int,
    followee_id: int,
    old: Edge,
    new: Edge,
    followers: int | None = None,
) -> None:
    """Writes the edge, moves its owner's counts and appends the change.

    `followers`: of the followee, as the follower sees them before. The version of the following
    count is the version of the following list. It grows with every edge. Raises: EdgeMoved if the
    edge is not `old`, which cannot happen under the follower's row lock; AccountNotFound; for a new
    follow or request also CannotFollowBlocked, TooManyFollowsToday and FollowCapReached, exact
    under concurrency. Cost: one statement.
    """
    state = (*new.mirrored, list(new.languages) or None)
    change = change_columns(follower_id, EdgeChanged(followee_id, 0, 0))
    values = (old.revision, *state, *_limits(old, new), *_moves(old, new), *change)
    row = fetch_one(alias, WRITE, (follower_id, follower_id, followee_id, *values))
    outcome, *columns, _, version, change_id, at, counts = row  # type: ignore[misc]  # a function has one row
    if outcome != "written":
        _refuse(outcome, NO_EDGE if columns[1] is None else edge_of(columns), new.since_ms)
    shown = None if followers is None else followers + _is_open(new) - _is_open(old)
    appended = AppendedChange(change_id, at, WrittenEdge(new, counts), shown)
    announce(alias, follower_id, EdgeChanged(followee_id, version - 1, version), appended)


def _is_open(edge: Edge) -> bool:
    """Whether others see the follower."""
    return edge.attribute in OPEN_FOLLOWS


def _limits(old: Edge, new: Edge) -> tuple[int | None, int, int]:
    """The most follows of an account, the day, and the most follows on it.

    A request is limited as a follow, so its approval is not limited again.
    """
    is_on, was_on = (edge.is_follow or edge.is_request for edge in (new, old))
    begins = is_on and not was_on
    most = settings.FOLLOW_CAP if begins else None
    return most, new.since_ms // DAY_MS, settings.FOLLOWS_PER_DAY


def _moves(old: Edge, new: Edge) -> tuple[list[int], list[int]]:
    """The kinds of the follower's counts in order, and what to add to each."""
    deltas: dict[int, int] = {}
    for move in iter_moves(FORWARD_KINDS, CounterKind.FOLLOWING, 0, old, new):
        deltas[int(move.kind)] = deltas.get(int(move.kind), 0) + move.delta
    kinds = sorted(deltas)
    return kinds, [deltas[kind] for kind in kinds]


def _refuse(outcome: str, edge: Edge, moment_ms: int) -> NoReturn:
    if outcome == "stale":
        raise EdgeMoved(edge)
    if outcome == "blocked":
        raise CannotFollowBlocked
    if outcome == "too_many_today":
        raise TooManyFollowsToday((DAY_MS - moment_ms % DAY_MS) // 1000 + 1)
    raise FollowCapReached if outcome == "too_many" else AccountNotFound
