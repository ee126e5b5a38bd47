"""Brings backward edges and caches up to imported follows: as mirror.py, for many accounts."""

from collections.abc import Iterable, Mapping, Sequence

from counters.cache import refresh_account_counts
from infra.caching.client import redis
from infra.caching.viewer_validators import ViewerField, drop_validator_commands
from infra.changes.failpoints import failpoint
from infra.sharding.functions import named_call
from infra.sharding.sql import fetch_one
from relations.actions.mirror import KINDS, STATES, mirror_on_shard
from relations.cache import FOLLOWERS, FOLLOWING, QUIET, relationship_changes
from relations.queries.edges import Pair, group_by_followee_shard, load_edges
from relations.states import last_block_turn
from relations.types import Edge

# relations/functions.sql
PARAMETERS = (
    *("followers", "followees", "attributes", "revisions", "sinces_ms", "all_flags"),
    *("states", "kinds"),
)
MIRROR = f"SELECT {named_call('relations_mirror_follows', PARAMETERS)}"


def mirror_imported(pairs: Sequence[Pair]) -> None:
    """Mirrors the edges as they are now, and ends what caches have of their accounts.

    Safety: idempotent, in any order. Raises: OperationalError, also if another transaction writes
    the same edge; RedisError. Cost: a query on each shard of the followers, a statement on each of
    the followees; a query a shard for the counts; a round trip for each kind of cache.
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
    rows = sorted((followee, follower, *edge) for (follower, followee), edge in edges.items())
    followees, followers, *facts = ([int(v) for v in column] for column in zip(*rows, strict=True))
    fetch_one(alias, MIRROR, (followers, followees, *facts, STATES, KINDS))


def _end_cached(pairs: Iterable[Pair]) -> None:
    """Lists are dropped, not changed: an import of many follows is one version of a list."""
    both = list(pairs)
    followers = list(dict.fromkeys(follower for follower, _ in both))
    followees = list(dict.fromkeys(followee for _, followee in both))
    relationships = relationship_changes([*both, *((b, a) for a, b in both)])
    lists = [cache.drop_command(i) for i in followers for cache in (FOLLOWING, QUIET)]
    lists += [FOLLOWERS.drop_command(followee) for followee in followees]
    redis().run([*relationships, *lists])
    redis().run(drop_validator_commands(followers, ViewerField.FOLLOWING))
    refresh_account_counts([*followers, *followees])
