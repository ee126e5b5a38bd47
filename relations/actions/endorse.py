"""Endorse an account: show a followed account on one's own profile."""

from collections.abc import Callable

from infra.sharding.buckets import shard_of
from relations.actions.write_edge import change_edge
from relations.errors import EndorsedAccountNotFollowed
from relations.queries.edges import get_edge
from relations.states import Transition, step
from relations.types import Edge, FollowOptions


def endorse(owner_id: int, target_id: int) -> bool:
    """Marks the owner's follow as endorsed; False when it was. The mark ends with the follow.

    Raises: EndorsedAccountNotFollowed, AccountNotFound for the owner. Safety: idempotent.
    Cost: two statements.
    """

    def next_edge(edge: Edge) -> Edge:
        if not edge.is_follow:
            raise EndorsedAccountNotFollowed
        return _with_mark(edge, is_on=True)

    return _change(owner_id, target_id, next_edge)


def stop_endorsing(owner_id: int, target_id: int) -> bool:
    """Takes the mark off; False when there was none. Otherwise as `endorse`."""

    def next_edge(edge: Edge) -> Edge:
        return _with_mark(edge, is_on=False) if edge.is_follow else edge

    return _change(owner_id, target_id, next_edge)


def _with_mark(edge: Edge, is_on: bool) -> Edge:
    return step(edge, Transition.FOLLOW, edge.since_ms, FollowOptions(endorsed=is_on))


def _change(owner_id: int, target_id: int, next_edge: Callable[[Edge], Edge]) -> bool:
    alias = shard_of(owner_id)
    return change_edge(alias, owner_id, target_id, get_edge(alias, owner_id, target_id), next_edge)
