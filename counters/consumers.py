"""What counters do with their own changes."""

from collections.abc import Sequence

from counters.cached import list_count_caches
from counters.changes import CountsRepaired
from infra.changes.registry import Delivery, consumes


@consumes(CountsRepaired, inline=True)
def refresh_repaired_counts(alias: str, deliveries: Sequence[Delivery[CountsRepaired]]) -> None:
    """Brings what is cached up to the counts. Cost: a query and a round trip for each cache."""
    mended = {(one.owner_id, one.payload.subject) for one in deliveries}
    for cached in list_count_caches():
        cached.cache.refresh(cached.read(alias, cached.numbers_of(mended)))
