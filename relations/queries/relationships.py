"""What lies between a viewer and accounts that exist, for Mastodon's Relationship entity."""

from collections.abc import Sequence

from redis.exceptions import RedisError

from accounts.cache import profiles
from infra.caching.client import redis
from relations.queries.standings import ask_command, complete_standings
from relations.types import Standing


def load_relationships(viewer_id: int, others: Sequence[int]) -> dict[int, Standing]:
    """Standings of those of the others who are accounts, in the order given. Each once in `others`.

    Cost: one round trip when warm; what Redis lacks of profiles and standings comes from the
    shards. With Redis away one query, and one per shard for the profiles.
    """
    if not others:
        return {}
    existing = profiles.hot.split(others)
    commands = [ask_command(viewer_id, others), ("MGET", *profiles.keys(existing.missing))]
    try:
        reply, *entries = redis().run(commands if existing.missing else commands[:1])
    except RedisError:
        reply, entries = None, [[None] * len(existing.missing)]
    raw = entries[0] if entries else []
    accounts = profiles.finish(existing, dict(zip(existing.missing, raw, strict=True)))
    known = [other for other in others if other in accounts]
    standings = complete_standings(viewer_id, others, reply).of
    return {other: standings[other] for other in known}
