"""What lies between a viewer and accounts that exist, for Mastodon's Relationship entity."""

from collections.abc import Sequence

from redis.exceptions import RedisError

from accounts.hot_profiles import complete_profiles, plan_profiles
from infra.caching.client import redis
from relations.queries.relationships import ask_command, complete_relationships
from relations.types import Relationship


def load_existing_relationships(viewer_id: int, others: Sequence[int]) -> dict[int, Relationship]:
    """Relationships with those of `others` that are accounts, in the order given.

    Cost: one round trip when warm; what Redis lacks of profiles and relationships comes from the
    shards. With Redis away one query, and one per shard for the profiles.
    """
    if not others:
        return {}
    existing = plan_profiles(others)
    keys = existing.keys()
    commands = [ask_command(viewer_id, others), ("MGET", *keys)]
    try:
        reply, *entries = redis().run(commands if keys else commands[:1])
    except RedisError:
        reply, entries = None, [[None] * len(keys)]
    accounts = complete_profiles(existing, entries[0] if entries else [])
    known = [other for other in others if other in accounts]
    relationships = complete_relationships(viewer_id, others, reply).by_account
    return {other: relationships[other] for other in known}
