"""Relationships in process memory: a viewer's stay usable while nothing of the viewer's changes.

A page reads the viewer's validators in a round trip that it makes anyway. Every change of one of
the viewer's relationships ends the validator, so answers kept under the same validator still hold.
Without a validator nothing is used. A mute that ends by itself changes no validator: readers check
`muted_until_ms` by the clock.
"""

from infra.caching.metrics import count_reads
from infra.caching.viewer_validators import ViewerCopies
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import NO_RELATIONSHIPS, Relationships

MOST_VIEWERS = 10_000
MOST_RELATIONSHIPS = 200
_by_viewer: ViewerCopies[Relationships] = ViewerCopies(RELATIONSHIPS.family, MOST_VIEWERS)


def find_in_process_relationships(viewer_id: int, validator: bytes | None) -> Relationships:
    """Those that this process kept under exactly this validator. No round trip."""
    return _by_viewer.find(viewer_id, validator) or NO_RELATIONSHIPS


def keep_in_process_relationships(viewer_id: int, loaded: Relationships) -> None:
    """Adds them to those of the same validator, or replaces those of another."""
    cached = _by_viewer.find(viewer_id, loaded.validator)
    if cached is not None and len(cached.by_account) < MOST_RELATIONSHIPS:
        loaded = cached.merged_with(loaded)
    _by_viewer.keep(viewer_id, loaded.validator, loaded)


def count_in_process_reads(asked: int, missing: int) -> None:
    """Counts reads from process memory in the metrics."""
    count_reads(RELATIONSHIPS.family, "process", asked - missing, missing)
