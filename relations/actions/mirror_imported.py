"""Brings backward edges and caches up to imported follows: as mirror.py, for many accounts."""

from collections.abc import Collection, Mapping, Sequence

from counters.cache import account_counts, refresh_account_counts
from infra.caching.client import redis
from infra.caching.load_tokens import token_key
from infra.caching.viewer_validators import ViewerField, drop_validator_commands, viewer_key
from infra.changes.failpoints import failpoint
from infra.sharding.sql import fetch_one, named_call
from relations.actions.mirror import KINDS, STATES, mirror_on_shard
from relations.cache import FOLLOWERS, FOLLOWING, QUIET, RELATIONSHIPS, relationship_changes
from relations.queries.edges import Pair, group_by_followee_shard, load_edges
from relations.states import last_block_turn
from relations.types import Edge

# relations/functions.sql
PARAMETERS = (
    *("followers", "followees", "attributes", "revisions", "sinces_ms", "all_flags"),
    *("states", "kinds"),
)
# Each followee of a statement is locked until its end, and drains of all shards lock at once.
MOST_TOGETHER = 250
MIRROR = f"SELECT {named_call('relations_mirror_follows', PARAMETERS)}"


def mirror_imported(pairs: Sequence[Pair]) -> None:
    """Mirrors the edges as they are now, and ends what caches have of their accounts.

    Safety: idempotent, in any order. Raises: OperationalError, also if another transaction writes
    the same edge; RedisError. Cost: a query on each shard of the followers, a statement on each of
    the followees; a round trip, and three more for accounts that
    caches have, with a query a shard.
    """
    forward = load_edges(pairs)
    follows = {p: edge for p, edge in forward.items() if edge.is_follow and not _was_block(edge)}
    for alias, group in group_by_followee_shard(follows).items():
        _mirror(alias, group)
    # What became something else since has a change of its own, which may have been delivered.
    others = {pair: edge for pair, edge in forward.items() if pair not in follows}
    for alias, group in group_by_followee_shard(others).items():
        mirror_on_shard(alias, group)
    failpoint("relations.imported_mirrored")
    _end_cached(forward)


def _was_block(edge: Edge) -> bool:
    return bool(last_block_turn(edge))


def _mirror(alias: str, edges: Mapping[Pair, Edge]) -> None:
    rows = sorted(
        (followee, follower, *edge.mirrored) for (follower, followee), edge in edges.items()
    )
    for first in range(0, len(rows), MOST_TOGETHER):
        columns = zip(*rows[first : first + MOST_TOGETHER], strict=True)
        followees, followers, *facts = ([int(value) for value in column] for column in columns)
        fetch_one(alias, MIRROR, (followers, followees, *facts, STATES, KINDS))


def _end_cached(pairs: Collection[Pair]) -> None:
    """Lists are dropped, not changed: an import of many follows is one version of a list."""
    cached = _find_cached({account_id for pair in pairs for account_id in pair})
    followers = list(dict.fromkeys(follower for follower, _ in pairs if follower in cached))
    followees = list(dict.fromkeys(followee for _, followee in pairs if followee in cached))
    both = [*pairs, *((followee, follower) for follower, followee in pairs)]
    relationships = relationship_changes(pair for pair in both if pair[0] in cached)
    lists = [cache.drop_command(i) for i in followers for cache in (FOLLOWING, QUIET)]
    lists += [FOLLOWERS.drop_command(followee) for followee in followees]
    redis().run([*relationships, *lists])
    redis().run(drop_validator_commands(followers, ViewerField.FOLLOWING))
    refresh_account_counts([*followers, *followees])


def _find_cached(account_ids: Collection[int]) -> set[int]:
    """Those of which Redis has something, or a load is in progress. The accounts of an import are
    mostly not read yet. A load that begins later reads what was committed."""
    counts = redis().run([("EXISTS", *_keys_of(account_id)) for account_id in account_ids])
    return {i for i, count in zip(account_ids, counts, strict=True) if count}


def _keys_of(account_id: int) -> list[bytes]:
    """All that `_end_cached` may delete or change, and the tokens of loads."""
    loaded = [cache.key(account_id) for cache in (RELATIONSHIPS, FOLLOWING, FOLLOWERS)]
    loaded.append(account_counts.key(account_id))
    return [
        *loaded,
        *map(token_key, loaded),
        QUIET.key(account_id),
        RELATIONSHIPS.filter_key(account_id),
        viewer_key(account_id),
    ]
