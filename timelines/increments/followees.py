"""Whom a reader listens to, in process memory, for as long as the reader's relations are the same.

Changes of relations come by the stream: each moves the reader's cell of the index. So what is here
trails what others' processes changed by the drain and half a second; what this process changed, by
nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from cachebox import LRUCache

from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.types import EdgeFlag, Relationship
from timelines.increments.queries import AccountIds, IndexSnapshot

KNOWN_READERS = 10_000  # 40 MB when each follows 500
A_BATCH = 1_000
NEVER_MS = 2**63


class Followees(NamedTuple):
    """Accounts whose posts are in the reader's home: followees not muted, and the reader.

    `sure`: whatever they publish shows. `unsure`: not their reposts. `until_ms`: the first of the
    reader's mutes among them ends then. `cell`, `epoch`: of the index, from before it was read.
    """

    sure: AccountIds
    unsure: AccountIds
    until_ms: int
    cell: int
    epoch: int


_known: LRUCache[int, Followees] = LRUCache(KNOWN_READERS)


def find_followees(reader_id: int, snapshot: IndexSnapshot, now_ms: int) -> Followees:
    """Cost: nothing when known; else the following list and relationships, two round trips when
    warm, about three queries when not."""
    known, cell = _known.get(reader_id), snapshot.relation_counter_of(reader_id)
    if known and (known.cell, known.epoch) == (cell, snapshot.epoch) and now_ms < known.until_ms:
        return known
    _known[reader_id] = found = _load(reader_id, now_ms, cell, snapshot.epoch)
    return found


def forget_followees(reader_id: int) -> None:
    _known.pop(reader_id, None)


def _load(reader_id: int, now_ms: int, cell: int, epoch: int) -> Followees:
    followed = load_following(reader_id).followee_ids
    relationships = _load_relationships(reader_id, followed)
    heard = {i: s for i, s in relationships.items() if s.is_followed and not s.is_muted_at(now_ms)}
    unsure = [i for i, relationship in heard.items() if relationship.flags & EdgeFlag.HIDES_REPOSTS]
    sure = [reader_id, *heard.keys() - set(unsure)]
    ends = [s.muted_until_ms for s in relationships.values() if s.is_muted_at(now_ms)]
    until_ms = min((end for end in ends if end), default=NEVER_MS)
    return Followees(_ids(sure), _ids(unsure), until_ms, cell, epoch)


def _load_relationships(reader_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    batches = [others[start : start + A_BATCH] for start in range(0, len(others), A_BATCH)]
    return {i: s for batch in batches for i, s in load_relationships(reader_id, batch).items()}


def _ids(ids: Sequence[int]) -> AccountIds:
    """Sorted: neighbours lie near each other on the index."""
    return np.array(sorted(ids), np.int64)
