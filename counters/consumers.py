"""What counters do with their own changes."""

from collections.abc import Sequence

from counters.cached import all_caches
from counters.changes import CountsMended
from infra.changes.registry import Delivery, consumes


@consumes(CountsMended, inline=True)
def refresh_mended_counts(alias: str, deliveries: Sequence[Delivery[CountsMended]]) -> None:
    """Brings what is cached up to the counts. Cost: a query and a round trip for each cache."""
    mended = {(one.owner_id, one.payload.subject) for one in deliveries}
    for cached in all_caches():
        cached.cache.refresh(cached.read(alias, cached.numbers_of(mended)))
