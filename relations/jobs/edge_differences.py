"""Whether two sides of an edge differ for good, or one is only on its way. Pure.

The forward edge and its change row are written in one transaction, and the row leaves the pending
ones after the backward edge was written. So a forward edge and "nothing is pending", read in one
snapshot, promise that who reads the backward edge after it finds that revision or a newer one.
What breaks the promise is a difference, however much is written meanwhile.

A follow whose followee blocks is hidden on the followee's side at once (states.as_faced), and ended
on the follower's when the block is delivered. Taken back at once, the block leaves it hidden until
then; so a follow that is hidden with no block pending has ended by the next look, or is hidden for
good.
"""

from enum import Enum
from typing import NamedTuple

from relations.states import as_seen_by_followee
from relations.types import Attribute, Edge


class EdgeDifference(Enum):
    """The values are what people read."""

    IN_ORDER = "in order"
    ON_ITS_WAY = "its change is pending still; show_change_lag"
    HIDDEN = "backward edge is hidden without a block: look again"
    MISSING = "backward edge is missing"
    OLDER = "backward edge is older"
    OTHER = "backward edge has the same revision and says something else"


UNSURE = frozenset((EdgeDifference.ON_ITS_WAY, EdgeDifference.HIDDEN))
BLOCK = Edge(Attribute.BLACK, 0, 0)


class EdgeSighting(NamedTuple):
    """An edge, and whether a change of it was pending in the same snapshot."""

    edge: Edge
    is_pending: bool


def compare_edges(
    first: Edge, now: EdgeSighting, there: Edge, facing: EdgeSighting, was_hidden: bool
) -> EdgeDifference:
    """About a forward edge seen `first` and then `now`, and what the followee's shard had after it.

    `there`: the backward edge. `facing`: the followee's own edge towards the follower.
    `was_hidden`: a look before said HIDDEN of this revision. A backward edge that is ahead is in
    order here: whether its forward edge will be found is another pass's question.
    """
    if there.revision == now.edge.revision:
        return _judge_same(now.edge, there, facing, was_hidden)
    if there.revision > now.edge.revision:
        return EdgeDifference.IN_ORDER
    if now.is_pending:
        # An edge that never rests is in order when what it was at first has come across.
        return (
            EdgeDifference.IN_ORDER
            if there.revision >= first.revision
            else EdgeDifference.ON_ITS_WAY
        )
    return EdgeDifference.OLDER if there.revision else EdgeDifference.MISSING


def _judge_same(now: Edge, there: Edge, facing: EdgeSighting, was_hidden: bool) -> EdgeDifference:
    if there == now:
        return EdgeDifference.IN_ORDER
    if there != as_seen_by_followee(now, BLOCK):
        return EdgeDifference.OTHER
    if facing.edge.attribute is Attribute.BLACK:
        return EdgeDifference.IN_ORDER
    if facing.is_pending:
        return EdgeDifference.ON_ITS_WAY
    return EdgeDifference.OTHER if was_hidden else EdgeDifference.HIDDEN
