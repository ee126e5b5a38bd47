"""From a token's checksum to what it allows: Redis, then the default database."""

from collections.abc import Sequence

from redis.exceptions import RedisError

from accounts.cache import TokenFacts, read_token_entry, token_key, write_token_command
from accounts.types import Restriction
from infra.caching.client import redis
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all, fetch_one

# A suspended user's tokens are found, so that their clients can be told why; as expired ones, so
# that a process of a release that knows nothing of it refuses them as well.
FACTS = f"""
SELECT t.token_checksum, t.id, t.user_id, coalesce(t.application_id, 0), t.scope,
    CASE WHEN u.is_active IS false THEN 0 ELSE extract(epoch FROM t.expires) END::float8, a.quota,
    coalesce(u.restrictions & {Restriction.FROZEN:d} <> 0, false),
    coalesce(u.restriction_revision, 0), u.is_active IS false
FROM accounts_accesstoken t
LEFT JOIN accounts_user u ON u.id = t.user_id
LEFT JOIN accounts_application a ON a.id = t.application_id
"""  # noqa: S608
FIND = f"{FACTS} WHERE t.token_checksum = %s"
OF_USERS = f"{FACTS} WHERE t.user_id = ANY(%s::bigint[])"


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
        if redis().call(*write_token_command(checksum, facts)):
            return facts
        # Somebody knows better: the token ended, or began, while we were reading.
        return read_token_entry(redis().call("GET", token_key(checksum)) or b"")
    except RedisError:
        return facts


def _load(checksum: str) -> TokenFacts | None:
    row = fetch_one(GLOBAL_ALIAS, FIND, (checksum,))
    return TokenFacts(*row[1:]) if row else None


def load_tokens_by_user(user_ids: Sequence[int]) -> dict[str, TokenFacts]:
    """What the tokens of these users allow, by checksum. One query."""
    rows = fetch_all(GLOBAL_ALIAS, OF_USERS, (list(user_ids),))
    return {row[0]: TokenFacts(*row[1:]) for row in rows}
