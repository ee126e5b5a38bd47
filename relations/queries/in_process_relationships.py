"""Relationships in process memory: a viewer's stay usable while nothing of the viewer's changes.

A page reads the viewer's validator in a round trip that it makes anyway. Every change of one of the
viewer's relationships replaces the validator, so answers kept under the same validator still hold.
Without a validator nothing is used. A mute that ends by itself changes no validator: readers check
`muted_until_ms` by the clock.
"""

from cachebox import LRUCache

from infra.caching.client import Command
from infra.caching.metrics import count_reads
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import NO_RELATIONSHIPS, Relationships

MOST_VIEWERS = 10_000
MOST_RELATIONSHIPS = 200
_by_viewer: LRUCache[int, Relationships] = LRUCache(MOST_VIEWERS)


def relationship_validator_command(viewer_id: int) -> Command:
    """Reply: the validator, None where there is none."""
    return RELATIONSHIPS.validator_command(viewer_id)


def find_in_process_relationships(viewer_id: int, validator: bytes | None) -> Relationships:
    """Those that this process kept under exactly this validator. No round trip."""
    cached = _by_viewer.get(viewer_id)
    if validator is None or cached is None or cached.validator != validator:
        return NO_RELATIONSHIPS
    return cached


def keep_in_process_relationships(viewer_id: int, loaded: Relationships) -> None:
    """Adds them to those of the same validator, or replaces those of another."""
    if loaded.validator is None:
        return
    cached = _by_viewer.get(viewer_id)
    if (
        cached is not None
        and cached.validator == loaded.validator
        and len(cached.by_account) < MOST_RELATIONSHIPS
    ):
        loaded = cached.merged_with(loaded)
    _by_viewer[viewer_id] = loaded


def count_in_process_reads(asked: int, missing: int) -> None:
    """Counts reads from process memory in the metrics."""
    count_reads(RELATIONSHIPS.family, "process", asked - missing, missing)
