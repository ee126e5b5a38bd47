"""Relationships in process memory: a viewer's stay usable while nothing of the viewer's changes.

A page reads the viewer's validators in a round trip that it makes anyway. Every change of one of
the viewer's relationships ends the validator, so answers kept under the same validator still hold.
Without a validator nothing is used. A mute that ends by itself changes no validator: readers check
`muted_until_ms` by the clock.
"""

from collections.abc import Collection
from functools import partial

from infra.caching.metrics import count_reads
from infra.caching.questions import Question
from infra.caching.viewer_validators import ViewerCopies
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import (
    NO_RELATIONSHIPS,
    Relationships,
    ask_relationships,
)

MOST_VIEWERS = 10_000
MOST_RELATIONSHIPS = 200
_by_viewer: ViewerCopies[Relationships] = ViewerCopies(RELATIONSHIPS.family, MOST_VIEWERS)


def find_kept_relationships(viewer_id: int, validator: bytes | None) -> Relationships | None:
    """The relationships that this process kept under exactly this validator."""
    return _by_viewer.find(viewer_id, validator)


def ask_kept_relationships(
    viewer_id: int, others: Collection[int], validator: bytes | None
) -> Question[Relationships]:
    """Relationships with at least these accounts: those that this process kept under exactly this
    validator, and others as `ask_relationships`."""
    known = _by_viewer.find(viewer_id, validator) or NO_RELATIONSHIPS
    asked = [other for other in others if other not in known.by_account]
    count_reads(RELATIONSHIPS.family, "process", len(others) - len(asked), len(asked))
    if not asked:
        return Question((), lambda _: known)
    return ask_relationships(viewer_id, asked).then(partial(_keep, viewer_id, known))


def _keep(viewer_id: int, known: Relationships, loaded: Relationships) -> Relationships:
    """Adds them to those of the same validator, or replaces those of another."""
    cached, kept = _by_viewer.find(viewer_id, loaded.validator), loaded
    if cached is not None and len(cached.by_account) < MOST_RELATIONSHIPS:
        kept = cached.merged_with(loaded)
    _by_viewer.keep(viewer_id, loaded.validator, kept)
    return known.merged_with(loaded)
