"""The counts shown with every account, as one cache entry in the order of AccountCounts.

They are not cached with the profile, because other pages read it and it changes more rarely. The
version of an entry is the sum of the versions of its counts. Each of them only grows, and one
snapshot reads them all, so the sum orders two readings.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from counters.queries.counts import load_counts, summarise
from infra.caching.client import Command
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one


def load_account_entries(owner_ids: Sequence[int]) -> Mapping[int, Versioned]:
    """The entries of the cache, from the source. One query for each shard.

    Call it after the commit: a transaction that sees its own moves, but not those of another one,
    would give two different entries the same version.
    """
    return {
        owner_id: Versioned(
            sum(count.version for count in counts.values()),
            ",".join(map(str, summarise(counts))).encode(),
        )
        for owner_id, counts in load_counts(owner_ids).items()
    }


def load_settled_entry(owner_id: int) -> Versioned:
    """The entry after the commit of every write that is returning one: see counters/functions.sql.

    For the caller's own moves, after its commit. Cost: one query, which may wait for such a write.
    """
    row = fetch_one(shard_of(owner_id), "SELECT counters_settled_entry(%s)", (owner_id,))
    return entry_of(row[0])  # type: ignore[index]  # a function has one row


def entry_of(counted: Sequence[int]) -> Versioned:
    """The entry from the result of the SQL function `counters_account_entry`."""
    version, *values = counted
    return Versioned(version, ",".join(map(str, values)).encode())


account_counts = ValueCache(
    "counters.account:v4",
    ttl_s=86_400,
    load=load_account_entries,
    check=re.compile(rb"\d+(,\d+){4},(0|\d{5})").fullmatch,
)


def refresh_account_counts(owner_ids: Iterable[int], before: Sequence[Command] = ()) -> None:
    """Refreshes the cached counts from the source. One query for each shard, one round trip.

    `before`: commands that run first. Raises: RedisError, so that the consumer runs again.
    """
    account_counts.refresh(load_account_entries(list(dict.fromkeys(owner_ids))), before)
