"""The consumer of counters."""

from collections.abc import Sequence

from counters.changes import CountsRepaired
from counters.registry import list_count_caches
from infra.changes.registry import Delivery, consumes


@consumes(CountsRepaired, inline=True)
def refresh_repaired_counts(alias: str, deliveries: Sequence[Delivery[CountsRepaired]]) -> None:
    """Refreshes the cached counts of repaired subjects. Cost: a query and a round trip a cache."""
    repaired = {(delivery.owner_id, delivery.payload.subject) for delivery in deliveries}
    for cached in list_count_caches():
        cached.cache.refresh(cached.read(alias, cached.numbers_of(repaired)))
