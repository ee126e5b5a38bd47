"""The counts shown with every account, as one cache entry, in the order of AccountCounts.

Kept apart from the profile, which is read by other pages and changes at another rate (seed S0).
The entry's version is the sum of its counts' versions: each only grows, and all are read in
one snapshot, so the sum orders the readings.
"""

from collections.abc import Iterable, Mapping, Sequence

from counters.queries.counts import load_counts, summarise
from infra.caching.values import ValueCache, Versioned


def _load(owner_ids: Sequence[int]) -> Mapping[int, Versioned]:
    return {
        owner_id: Versioned(
            sum(count.version for count in counts.values()),
            ",".join(map(str, summarise(counts))).encode(),
        )
        for owner_id, counts in load_counts(owner_ids).items()
    }


account_counts = ValueCache("counters.account:v3", ttl_s=86_400, load=_load)


def refresh_account_counts(owner_ids: Iterable[int]) -> None:
    """Brings the cached counts up to the rows. One query per shard, one round trip.

    Raises: RedisError, so that a consumer is run again.
    """
    account_counts.refresh(_load(list(dict.fromkeys(owner_ids))))
