"""Whether the two sides of an edge differ, or a change is only on its way. Pure.

The forward edge and its change row are written in one transaction. The change row stops being
pending after the backward edge was written. So when one snapshot shows a forward edge and no
pending change, a later read of the backward edge must find that revision or a newer one. Anything
else is a difference, however many writes happen at the same time.

A follow is hidden on the followee's side as soon as the followee blocks the follower
(states.as_seen_by_followee). It ends on the follower's side when the block is delivered. When the
block is taken back before its delivery, the follow stays hidden until then. So a follow that is
hidden without a pending block either has ended at the next comparison, or is hidden for good.
"""

from enum import Enum
from typing import NamedTuple

from relations.states import as_seen_by_followee
from relations.types import Attribute, Edge


class EdgeDifference(Enum):
    """The values are printed for people."""

    IN_ORDER = "in order"
    ON_ITS_WAY = "its change is still pending; see changes lag"
    HIDDEN = "backward edge is hidden without a block: compare again"
    MISSING = "backward edge is missing"
    OLDER = "backward edge is older"
    OTHER = "backward edge has the same revision and another content"


UNSURE = frozenset((EdgeDifference.ON_ITS_WAY, EdgeDifference.HIDDEN))
BLOCK = Edge(Attribute.BLACK, 0, 0)


class EdgeSighting(NamedTuple):
    """An edge, and whether a change of it was pending in the same snapshot."""

    edge: Edge
    is_pending: bool


def compare_edges(
    first: Edge, now: EdgeSighting, backward: Edge, opposite: EdgeSighting, was_hidden: bool
) -> EdgeDifference:
    """Compares a forward edge, read as `first` and later as `now`, with its backward edge.

    `backward` was read after `now`. `opposite`: the followee's own edge to the follower.
    `was_hidden`: an earlier comparison said HIDDEN of this revision. A backward edge that is ahead
    is in order here: another pass checks whether its forward edge exists.
    """
    if backward.revision == now.edge.revision:
        return _compare_content(now.edge, backward, opposite, was_hidden)
    if backward.revision > now.edge.revision:
        return EdgeDifference.IN_ORDER
    if now.is_pending:
        # An edge that changes all the time is in order once its first revision was mirrored.
        is_mirrored = backward.revision >= first.revision
        return EdgeDifference.IN_ORDER if is_mirrored else EdgeDifference.ON_ITS_WAY
    return EdgeDifference.OLDER if backward.revision else EdgeDifference.MISSING


def _compare_content(
    now: Edge, backward: Edge, opposite: EdgeSighting, was_hidden: bool
) -> EdgeDifference:
    if backward == now:
        return EdgeDifference.IN_ORDER
    if backward != as_seen_by_followee(now, BLOCK):
        return EdgeDifference.OTHER
    if opposite.edge.attribute is Attribute.BLACK:
        return EdgeDifference.IN_ORDER
    if opposite.is_pending:
        return EdgeDifference.ON_ITS_WAY
    return EdgeDifference.OTHER if was_hidden else EdgeDifference.HIDDEN
