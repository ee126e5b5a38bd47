"""The acts of the caller of a request: what it has done, and what no other shard shows yet.

A follow is a row of the follower's shard. The count of followers is on the followee's shard, and
moves when the change is delivered. Until then the account that acted sees its act all the same: a
request knows the acts of its caller (`acts_of_request`), and shows them in counts and lists.
`infra/changes/own_acts.py` keeps them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from infra.confirmations import confirm_now, notes_of_request

TAGGED = 0
_NOTE = "own_acts"


class OwnAct(NamedTuple):
    """What an act changes on another shard: a count of this kind, and the list behind it.

    `subject`: as in the table of counts. `part`: 0; of a reply the list also has an act with its
    moment, because an account may reply several times. TAGGED moves no count: the shards of its
    tags list this post.
    """

    kind: int
    owner_id: int
    subject: int = 0
    part: int = 0


class NotedAct(NamedTuple):
    """An act whose change is pending. `shown`: the count as the account sees it after the act, None
    if it is not known. `at_s`: when it was known to be pending, in Unix time."""

    change_id: int
    at_s: int
    shown: int | None


Acts = Mapping[OwnAct, NotedAct]
NO_ACTS: Acts = MappingProxyType({})


def note_acts_of_request(find: Callable[[], Acts]) -> None:
    """`find`: called by the first reader of the request's acts; it may wait for a shard."""
    notes_of_request()[_NOTE] = find


def acts_of_request() -> Acts:
    """The pending acts of the caller. Nearly always none. Cost: nothing; a round trip if the
    request has asked Redis nothing yet; a query if some are pending for long, or Redis is away."""
    confirm_now()
    notes = notes_of_request()
    acts = notes.get(_NOTE, NO_ACTS)
    if callable(acts):
        notes[_NOTE] = acts = acts()
    known: Acts = acts
    return known
