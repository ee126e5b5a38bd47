"""From a token's checksum to what it allows: Redis, then the default database."""

from redis.exceptions import RedisError

from accounts.cache import TokenFacts, put_token_command, read_token_entry, token_key
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one

# A suspended user's tokens are no tokens, also should one have escaped the revocation.
FIND = """
SELECT t.id, t.user_id, coalesce(t.application_id, 0), t.scope, extract(epoch FROM t.expires),
    a.quota
FROM accounts_accesstoken t
LEFT JOIN accounts_user u ON u.id = t.user_id
LEFT JOIN accounts_application a ON a.id = t.application_id
WHERE t.token_checksum = %s AND (t.user_id IS NULL OR u.is_active)
"""


def find_token(checksum: str) -> TokenFacts | None:
    """What the token allows, or None; whether it has expired is the caller's question.

    Cost: one round trip when cached; else one query and a second round trip. With Redis away one
    query. How stale: a revocation shows as soon as its tombstone is laid, right after the commit.
    """
    try:
        entry = redis().call("GET", token_key(checksum))
    except RedisError:
        return _load(checksum)
    return _load_and_put(checksum) if entry is None else read_token_entry(entry)


def _load_and_put(checksum: str) -> TokenFacts | None:
    facts = _load(checksum)
    failpoint("accounts.token_loaded")
    try:
        if redis().call(*put_token_command(checksum, facts)):
            return facts
        # Somebody knows better: the token ended, or began, while we were reading.
        return read_token_entry(redis().call("GET", token_key(checksum)) or b"")
    except RedisError:
        return facts


def _load(checksum: str) -> TokenFacts | None:
    row = fetch_one(GLOBAL_ALIAS, FIND, (checksum,))
    return TokenFacts(row[0], row[1], row[2], row[3], float(row[4]), row[5]) if row else None
