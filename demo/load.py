"""Loads a community in bulk: users, then whole accounts; what load_graph and load_demo share."""

from collections.abc import Generator, Sequence

from accounts.cache import refresh_profiles
from demo.errors import GraphNameTaken
from demo.rows import Ids, write_accounts
from demo.turns import pieces
from demo.types import Community
from demo.users import ensure_users, set_password
from infra.changes.failpoints import failpoint
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from infra.sharding.buckets import group_by_shard

JOB = "load_graph"
ACCOUNTS_A_BATCH = 2_000


def load_community(
    community: Community, password: str | None
) -> Generator[Batch, None, dict[int, int]]:
    """Brings in what is not there yet, batch by batch; returns account id by node.

    The caller holds `alone`. Raises: GraphNameTaken, UsernameTaken. Safety: idempotent; killed
    anywhere and run again it ends the same. Cost: 30,000 accounts with 215,000 follows took 5 s.
    """
    done = _count_done(community)
    _keep(community, done)
    ids = yield from ensure_users(community)
    for nodes in pieces(community.graph.nodes[done:], ACCOUNTS_A_BATCH):
        _write_accounts(community, ids, nodes)
        done += len(nodes)
        _keep(community, done)
        yield Batch(len(nodes), note=f"{done:,} of {len(community.graph.nodes):,} accounts")
    if password is not None:
        set_password(ids.values(), password)
    return ids


def _write_accounts(community: Community, ids: Ids, nodes: Sequence[int]) -> None:
    node_of = {ids[node]: node for node in nodes}
    for alias, account_ids in group_by_shard(node_of).items():
        write_accounts(alias, community, ids, [node_of[id_] for id_ in account_ids])
        failpoint("demo.shard_written")
    # Somebody may have asked before there was a row: that answer is cached as "no such account".
    # Also for those that an earlier run laid: it may have died right here.
    refresh_profiles(node_of)


def _count_done(community: Community) -> int:
    """How many nodes, in order, are known to be loaded."""
    position = find_checkpoint(JOB, community.name)
    if position is None:
        return 0
    if position["signature"] != community.signature:
        raise GraphNameTaken(community.name)
    return int(position["accounts"])


def _keep(community: Community, done: int) -> None:
    save_checkpoint(JOB, community.name, {"signature": community.signature, "accounts": done})
