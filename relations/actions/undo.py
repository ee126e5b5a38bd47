"""Takes an unfollow or a mute back, as if it had not been: flags, date, languages and lists stay.

What was before is in a signed text that the caller got with the answer. Nothing is stored, so
nothing is lost with a process, and a text that is sent twice undoes once.
"""

from collections.abc import Sequence
from typing import Any

from django.core import signing

from infra.sharding.buckets import shard_of
from relations.actions.mute import restore_mute
from relations.actions.write_edge import change_edge
from relations.errors import NothingToUndo
from relations.queries.edges import get_edge
from relations.types import Attribute, Edge, EdgeFlag, Mute

SALT = "relations.undo"
# A person has seconds. A request that a client sends again has a little longer.
LONGEST_S = 60
_EDGE, _MUTE = "edge", "mute"


def undo_of_unfollow(follower_id: int, followee_id: int, ended: Edge) -> str:
    """The text that takes the end of this follow, or of this request, back."""
    return _signed(_EDGE, follower_id, followee_id, ended)


def undo_of_mute(owner_id: int, target_id: int, before: Mute) -> str:
    """The text that brings the mute before this one back, or none."""
    return _signed(_MUTE, owner_id, target_id, before)


def undo(owner_id: int, other_id: int, text: str) -> None:
    """Raises: NothingToUndo, if the text is not one of this pair, is older than a minute, or if the
    relation has changed since; as a new follow CannotFollowBlocked, FollowCapReached
    and TooManyFollowsToday. Safety: idempotent. Cost: as unfollow or mute.
    """
    try:
        what, owner, other, before = signing.loads(text, salt=SALT, max_age=LONGEST_S)
    except signing.BadSignature:
        raise NothingToUndo from None
    if (owner, other) != (owner_id, other_id):
        raise NothingToUndo
    if what == _MUTE:
        restore_mute(owner_id, other_id, Mute(*before))
    else:
        _restore_edge(owner_id, other_id, _edge_of(*before))


def _signed(what: str, owner_id: int, other_id: int, before: Sequence[Any]) -> str:
    return signing.dumps([what, owner_id, other_id, [*before]], salt=SALT, compress=True)


def _edge_of(
    attribute: int, revision: int, since_ms: int, flags: int, languages: list[str]
) -> Edge:
    return Edge(Attribute(attribute), revision, since_ms, EdgeFlag(flags), tuple(languages))


def _restore_edge(follower_id: int, followee_id: int, ended: Edge) -> None:
    restored = ended._replace(revision=ended.revision + 2)

    def next_edge(edge: Edge) -> Edge:
        if edge == restored:
            return edge
        if edge.attribute is not Attribute.NONE or edge.revision != ended.revision + 1:
            raise NothingToUndo
        return restored

    alias = shard_of(follower_id)
    seen = get_edge(alias, follower_id, followee_id)
    change_edge(alias, follower_id, followee_id, seen, next_edge)
