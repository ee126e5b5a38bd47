"""Relationships in process memory, each viewer's for as long as nothing of theirs has changed.

A page asks for the viewer's stamp in a round trip it makes anyway. What was learnt under the same
stamp still holds: every change of any of the viewer's pairs replaces it.
No stamp, nothing is used. Mutes that end by themselves are for the reader to check by the clock.
"""

from cachebox import LRUCache

from infra.caching.client import Command
from infra.caching.metrics import count_reads
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import NO_RELATIONSHIPS, Relationships

MOST_VIEWERS = 10_000
MOST_RELATIONSHIPS = 200
_known: LRUCache[int, Relationships] = LRUCache(MOST_VIEWERS)


def stamp_command(viewer_id: int) -> Command:
    """Reply: the stamp, None where there is none."""
    return RELATIONSHIPS.validator_command(viewer_id)


def find_in_process_relationships(viewer_id: int, stamp: bytes | None) -> Relationships:
    """What this process learnt under this very stamp. No round trip."""
    known = _known.get(viewer_id)
    return NO_RELATIONSHIPS if stamp is None or known is None or known.stamp != stamp else known


def keep_in_process_relationships(viewer_id: int, learnt: Relationships) -> None:
    """Remembers answers beside those of the same stamp."""
    if learnt.stamp is None:
        return
    known = _known.get(viewer_id)
    if known is not None and known.stamp == learnt.stamp and len(known.of) < MOST_RELATIONSHIPS:
        learnt = known.beside(learnt)
    _known[viewer_id] = learnt


def count_in_process_reads(asked: int, unknown: int) -> None:
    """Counts reads from process memory: how many were asked, how many it lacked."""
    count_reads(RELATIONSHIPS.family, "local", asked - unknown, unknown)
