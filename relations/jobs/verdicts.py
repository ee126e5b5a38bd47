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

from relations.states import as_faced
from relations.types import Attribute, Edge


class Verdict(Enum):
    """The values are what people read."""

    IN_ORDER = "in order"
    ON_ITS_WAY = "its change is pending still; show_change_lag"
    HIDDEN = "backward edge is hidden without a block: look again"
    MISSING = "backward edge is missing"
    OLDER = "backward edge is older"
    OTHER = "backward edge has the same revision and says something else"


UNSURE = frozenset((Verdict.ON_ITS_WAY, Verdict.HIDDEN))
BLOCK = Edge(Attribute.BLACK, 0, 0)


class Sight(NamedTuple):
    """An edge, and whether a change of it was pending in the same snapshot."""

    edge: Edge
    is_pending: bool


def judge(first: Edge, now: Sight, there: Edge, facing: Sight, was_hidden: bool) -> Verdict:
    """About a forward edge seen `first` and then `now`, and what the followee's shard had after it.

    `there`: the backward edge. `facing`: the followee's own edge towards the follower.
    `was_hidden`: a look before said HIDDEN of this revision. A backward edge that is ahead is in
    order here: whether its forward edge will be found is another pass's question.
    """
    if there.revision == now.edge.revision:
        return _judge_same(now.edge, there, facing, was_hidden)
    if there.revision > now.edge.revision:
        return Verdict.IN_ORDER
    if now.is_pending:
        # An edge that never rests is in order when what it was at first has come across.
        return Verdict.IN_ORDER if there.revision >= first.revision else Verdict.ON_ITS_WAY
    return Verdict.OLDER if there.revision else Verdict.MISSING


def _judge_same(now: Edge, there: Edge, facing: Sight, was_hidden: bool) -> Verdict:
    if there == now:
        return Verdict.IN_ORDER
    if there != as_faced(now, BLOCK):
        return Verdict.OTHER
    if facing.edge.attribute is Attribute.BLACK:
        return Verdict.IN_ORDER
    if facing.is_pending:
        return Verdict.ON_ITS_WAY
    return Verdict.OTHER if was_hidden else Verdict.HIDDEN
