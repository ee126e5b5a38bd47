"""What is stored anywhere, as hashes: two that are equal have the same rows and the same keys."""

from hashlib import sha1

from infra.caching.client import redis
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all

TABLES = """
SELECT c.relname, EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'settled'
) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname <> ALL(%s) ORDER BY 1
"""
# In any order.
ROWS = """
SELECT '{0}', sum(hashtextextended({1}, 0))::text FROM public."{0}" AS t
"""
ROW = "t::text"
# The time of a push is another one when the push is repeated.
UNSETTLED_ROW = "(to_jsonb(t) - 'settled')::text"
# What a run says of itself, who drains now, and the pulses of shards.
OF_RUNS = [
    "jobs_jobrun",
    "jobs_jobcheckpoint",
    "changes_drainlease",
    "sharding_databaseidentity",
    "sharding_pulse",
]
# Reports and wake-ups, which other threads and the tests themselves write. What the preparation of
# a test left in the last two expires within seconds, which may be in the middle of the test.
VOLATILE = (
    b"changes.wake_up:",
    b"changes.lag:",
    b"timelines.increments:",
    b"caching.hot:",
    b"counters.hot:",
    b"processes.reports:",
)


def rows_digest() -> dict[tuple[str, str], str]:
    """By database and table. Two queries a database."""
    found = {}
    for alias in all_aliases():
        texts = [
            ROWS.format(name, UNSETTLED_ROW if has_settled else ROW)
            for name, has_settled in fetch_all(alias, TABLES, (OF_RUNS,))
        ]
        hashes = fetch_all(alias, " UNION ALL ".join(texts))
        found |= {(alias, name): digest for name, digest in hashes if digest}
    return found


def keys_digest() -> dict[bytes, str]:
    """By key, with its expiry: a dry run that keeps entries alive has written."""
    keys = [k for k in redis().call("KEYS", "*") if not k.startswith(VOLATILE)]
    dumps = redis().run([("DUMP", k) for k in keys])
    ends = redis().run([("PEXPIRETIME", k) for k in keys])
    return {
        k: f"{sha1(dump or b'').hexdigest()} until {end}"
        for k, dump, end in zip(keys, dumps, ends, strict=True)
    }
