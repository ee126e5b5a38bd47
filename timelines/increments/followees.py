"""The followees of readers in process memory, valid while the reader's validators are the same."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, RoundTrip
from infra.caching.viewer_validators import ValidatorsQuestion, ViewerCopies, ViewerField
from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.types import Relationship
from relations.visibility import Surface, hidden_among
from timelines.increments.queries import AccountIds

# Of all readers together.
MOST_FOLLOWEES = most_entries("timelines.increments", share=0.03, bytes_each=8)
# What a reader takes without followees, in their number.
A_READER = 40
A_BATCH = 1_000
NEVER_MS = 2**63


class Followees(NamedTuple):
    """Accounts whose posts are in the reader's home: followees that are neither muted nor on an
    exclusive list, and the reader.

    `until_ms`: when the first of the reader's mutes among the followees ends.
    """

    account_ids: AccountIds
    until_ms: int


def _weigh(followees: Followees) -> int:
    return len(followees.account_ids) + A_READER


_followees: ViewerCopies[Followees] = ViewerCopies(MOST_FOLLOWEES, _weigh)


def find_followees(reader_id: int, now_ms: int, also: Question[Any]) -> Followees:
    """The accounts that the reader's home shows. `also`: a question for the same round trip.

    Cost: one round trip when they are in process memory. Otherwise also the following list and the
    relationships: two more round trips when Redis has them, else about three queries.
    """
    validator = _read_validator(reader_id, also)
    followees = _followees.find(reader_id, validator)
    if followees is None or now_ms >= followees.until_ms:
        followees = _load(reader_id, now_ms)
        _followees.keep(reader_id, validator, followees)
    return followees


def _read_validator(reader_id: int, also: Question[Any]) -> bytes | None:
    """Of the following list and the relationships together. None: one is missing."""
    question = ValidatorsQuestion(reader_id)
    if not _followees.has(reader_id):
        question.create(ViewerField.RELATIONSHIPS, ViewerField.FOLLOWING)
    trip = RoundTrip()
    trip.ask(question)
    trip.ask(also)
    trip.run()
    valid = question.value
    both = valid.relationships, valid.following
    return None if None in both else b"".join(filter(None, both))


def _load(reader_id: int, now_ms: int) -> Followees:
    followed = load_following(reader_id).followee_ids
    relationships = _load_relationships(reader_id, followed)
    shown = relationships.keys() - hidden_among(Surface.HOME, relationships, now_ms)
    ends = (relationship.muted_until_ms for relationship in relationships.values())
    until_ms = min((end for end in ends if end > now_ms), default=NEVER_MS)
    return Followees(_sorted([reader_id, *shown]), until_ms)


def _load_relationships(reader_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    batches = [others[start : start + A_BATCH] for start in range(0, len(others), A_BATCH)]
    return {i: r for batch in batches for i, r in load_relationships(reader_id, batch).items()}


def _sorted(ids: Sequence[int]) -> AccountIds:
    """Sorted, so that reads of the index move forward through memory."""
    return np.array(sorted(ids), np.int64)
