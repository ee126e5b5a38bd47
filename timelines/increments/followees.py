"""The followees of readers in process memory, valid until the reader's relations change.

A change of relations comes by the stream and raises the reader's relation counter in the index. So
this memory is late by the drain and one turn of the updater. A change made by this process is
visible at once: the process forgets the reader.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from cachebox import LRUCache

from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.types import EdgeFlag, Relationship
from timelines.increments.queries import AccountIds, IndexSnapshot

MOST_READERS = 10_000  # 40 MB if each follows 500
A_BATCH = 1_000
NEVER_MS = 2**63


class Followees(NamedTuple):
    """Accounts whose posts are in the reader's home: followees that are not muted, and the reader.

    `with_reposts`, `without_reposts`: whether the reader sees their reposts. `until_ms`: when the
    first of the reader's mutes among the followees ends. `relation_counter`, `epoch`: those of the
    index before the followees were read.
    """

    with_reposts: AccountIds
    without_reposts: AccountIds
    until_ms: int
    relation_counter: int
    epoch: int


_followees: LRUCache[int, Followees] = LRUCache(MOST_READERS)


def find_followees(reader_id: int, snapshot: IndexSnapshot, now_ms: int) -> Followees:
    """The accounts that the reader's home shows.

    Cost: nothing from process memory. Otherwise the following list and the relationships: two round
    trips when Redis has them, else about three queries.
    """
    counter, epoch = snapshot.relation_counter_of(reader_id), snapshot.epoch
    followees = _followees.get(reader_id)
    if (
        followees
        and (followees.relation_counter, followees.epoch) == (counter, epoch)
        and now_ms < followees.until_ms
    ):
        return followees
    _followees[reader_id] = followees = _load(reader_id, now_ms, counter, epoch)
    return followees


def forget_followees(reader_id: int) -> None:
    _followees.pop(reader_id, None)


def _load(reader_id: int, now_ms: int, relation_counter: int, epoch: int) -> Followees:
    followed = load_following(reader_id).followee_ids
    relationships = _load_relationships(reader_id, followed)
    shown = {i: r for i, r in relationships.items() if r.is_followed and not r.is_muted_at(now_ms)}
    without_reposts = [i for i, r in shown.items() if r.flags & EdgeFlag.HIDES_REPOSTS]
    with_reposts = [reader_id, *shown.keys() - set(without_reposts)]
    ends = [r.muted_until_ms for r in relationships.values() if r.is_muted_at(now_ms)]
    until_ms = min((end for end in ends if end), default=NEVER_MS)
    return Followees(
        _sorted(with_reposts), _sorted(without_reposts), until_ms, relation_counter, epoch
    )


def _load_relationships(reader_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    batches = [others[start : start + A_BATCH] for start in range(0, len(others), A_BATCH)]
    return {i: r for batch in batches for i, r in load_relationships(reader_id, batch).items()}


def _sorted(ids: Sequence[int]) -> AccountIds:
    """Sorted, so that reads of the index move forward through memory."""
    return np.array(sorted(ids), np.int64)
