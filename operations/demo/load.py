"""Loads a community in bulk: users first, then whole accounts.

load_demo and `python -m lab.graph` use it.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from accounts.cache import refresh_profiles
from infra.changes.failpoints import failpoint
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from infra.sharding.buckets import group_by_shard
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_one
from operations.demo.errors import AlreadyLoading, GraphNameTaken
from operations.demo.rows import Ids, write_accounts
from operations.demo.types import Community
from operations.demo.users import ensure_users, in_batches, set_password

JOB = "load_graph"
ACCOUNTS_A_BATCH = 2_000
# The session holds the lock, so a killed process leaves no lock behind.
LOCK = "SELECT pg_try_advisory_lock(hashtextextended('demo ' || %s, 0))"
UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('demo ' || %s, 0))"


@contextmanager
def loading_lock(name: str) -> Iterator[None]:
    """Keeps other processes from loading this graph. Raises AlreadyLoading."""
    if fetch_one(GLOBAL_ALIAS, LOCK, (name,)) != (True,):
        raise AlreadyLoading(name)
    try:
        yield
    finally:
        fetch_one(GLOBAL_ALIAS, UNLOCK, (name,))


def load_community(
    community: Community, password: str | None
) -> Generator[Batch, None, dict[int, int]]:
    """Creates the missing users and accounts in batches. Returns account ids by node.

    The caller holds `loading_lock`. Raises: GraphNameTaken, UsernameTaken.
    Safety: idempotent; after a kill, run it again.
    """
    done = _count_done(community)
    _save_position(community, done)
    ids = yield from ensure_users(community)
    for nodes in in_batches(community.graph.nodes[done:], ACCOUNTS_A_BATCH):
        _write_accounts(community, ids, nodes)
        done += len(nodes)
        _save_position(community, done)
        yield Batch(len(nodes), note=f"{done:,} of {len(community.graph.nodes):,} accounts")
    if password is not None:
        set_password(ids.values(), password)
    return ids


def _write_accounts(community: Community, ids: Ids, nodes: Sequence[int]) -> None:
    node_of = {ids[node]: node for node in nodes}
    for alias, account_ids in group_by_shard(node_of).items():
        write_accounts(alias, community, ids, [node_of[id_] for id_ in account_ids])
        failpoint("demo.shard_written")
    # A request before the commit may have cached "no such account". Refreshes all nodes, because an
    # earlier run may have been killed between its commit and this line.
    refresh_profiles(node_of)


def _count_done(community: Community) -> int:
    """The number of nodes, in order, that earlier runs loaded."""
    position = find_checkpoint(JOB, community.name)
    if position is None:
        return 0
    if position["signature"] != community.signature:
        raise GraphNameTaken(community.name)
    return int(position["accounts"])


def _save_position(community: Community, done: int) -> None:
    save_checkpoint(JOB, community.name, {"signature": community.signature, "accounts": done})
