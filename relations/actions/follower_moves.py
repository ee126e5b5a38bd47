"""The moves of followers counts, at once or postponed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from counters.actions.move_counts import MovePlan, plan_count_moves
from counters.actions.postpone import CausedMove, postpone
from counters.kinds import CounterKind
from counters.types import CountMove
from infra.changes.append import append_change
from infra.sharding.sql import Statement
from infra.telemetry.reached_branches import reached
from relations.changes import FollowersPostponed
from relations.counter_rows import BACKWARD_KINDS, iter_moves
from relations.queries.edges import Pair
from relations.types import Edge


class BackwardUpdate(NamedTuple):
    """One backward edge before and after, and the opposite edge: followee to follower."""

    old: Edge
    new: Edge
    opposite: Edge


class FollowerMoves(NamedTuple):
    """Moves of one transaction: some at once, and some as rows, by followee."""

    moves: list[CountMove]
    postponed: list[CausedMove]

    def statements(self, alias: str) -> list[Statement]:
        """At most two. Replies for `complete`."""
        last = [self._plan(alias).statement] if self.moves else []
        return [postpone(self.postponed), *last] if self.postponed else last

    def complete(self, alias: str, replies: Sequence[Sequence[Any]]) -> dict[int, int | None]:
        """The new version of each followers list, None if postponed; appends changes for those.

        Cost: one statement for each followee with postponed moves.
        """
        later = dict.fromkeys(move.move.owner_id for move in self.postponed)
        for followee_id in later:
            reached("relations.moves_postponed")
            append_change(alias, followee_id, FollowersPostponed())
        counts = self._plan(alias).complete(replies[-1]) if self.moves else {}
        return {
            owner: count.version
            for (owner, _, kind), count in counts.items()
            if kind == CounterKind.FOLLOWERS
        } | later

    def _plan(self, alias: str) -> MovePlan:
        return plan_count_moves(alias, self.moves)


def plan_follower_moves(
    updates: Mapping[Pair, BackwardUpdate], postponed: Collection[int]
) -> FollowerMoves:
    """The moves of these updates. `postponed`: followees whose moves are written as rows."""
    plan = FollowerMoves([], [])
    for (follower_id, followee_id), update in updates.items():
        moves = moves_of(followee_id, update.old, update.new)
        if followee_id in postponed:
            plan.postponed.extend(CausedMove(move, follower_id) for move in moves)
        else:
            plan.moves.extend(moves)
    return plan


def moves_of(followee_id: int, old: Edge, new: Edge) -> Iterable[CountMove]:
    """The moves of one backward edge."""
    return iter_moves(BACKWARD_KINDS, CounterKind.FOLLOWERS, followee_id, old, new)
