"""The pass of audit_edges over backward edges: do they come from anywhere, do blocks hold (I4)?"""

from collections.abc import Iterator, Mapping
from functools import partial

from infra.jobs.types import Batch, Work
from infra.jobs.walk import walk_table
from infra.sharding.sql import fetch_all
from relations.actions.mirror import Pair, read_forward
from relations.jobs.differences import AuditFinding, report_findings
from relations.jobs.edge_sightings import BACKWARD, backward_of, columns_of, group_by_follower_shard
from relations.jobs.repair import (
    end_blocked_follow,
    end_orphan,
    hide_blocked_follower,
    mirror_again,
)
from relations.types import NO_EDGE, Attribute, Edge

EXISTING = "SELECT id FROM accounts_account WHERE id = ANY(%s::bigint[])"
# In one snapshot of one shard a follow never faces a block: both are on it, and who writes one of
# them hides or ends the other in the same transaction.
BLOCKED_FOLLOWS = """
SELECT pair.follower_id, pair.followee_id, there.attribute
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
JOIN relations_backwardedge there USING (follower_id, followee_id)
JOIN relations_forwardedge facing
    ON facing.follower_id = pair.followee_id AND facing.followee_id = pair.follower_id
WHERE (there.attribute = 3 AND facing.attribute IN (1, 2))
    OR (there.attribute IN (1, 2) AND facing.attribute = 3)
"""
Edges = Mapping[Pair, Edge]


def audit_backward(work: Work, repair: bool) -> Iterator[Batch]:
    """Backward edges ahead of their forward edge, or without one; follows of who blocks.

    Safety: right beside living writes: the forward edge is read after the backward one, and only
    grows. Cost: two queries a batch and one per shard of followers.
    """
    for piece in walk_table(work, BACKWARD):
        there = backward_of(piece.rows)
        found = [*_ahead(there), *_blocked_follows(piece.alias, there)]
        yield report_findings(work, piece, found, repair)


def _ahead(there: Edges) -> Iterator[AuditFinding]:
    for alias, group in group_by_follower_shard(there).items():
        forward = read_forward(alias, group)
        ahead = [p for p, e in group.items() if forward.get(p, NO_EDGE).revision < e.revision]
        followers = _existing(alias, ahead)
        for pair in sorted(ahead):
            has_follower = pair[0] in followers
            # One that ended says nothing, and nobody is left who could say anything else.
            if has_follower or group[pair].attribute is not Attribute.NONE:
                yield _difference(pair, group[pair], pair in forward, has_follower)


def _difference(pair: Pair, there: Edge, has_forward: bool, has_follower: bool) -> AuditFinding:
    line = "edge {} → {}: ".format(*pair)
    if not has_follower:
        text = f"{line}account {pair[0]} does not exist"
        return AuditFinding(text, partial(end_orphan, pair, there))
    what = "backward edge is ahead" if has_forward else "there is no forward edge"
    return AuditFinding(line + what, partial(mirror_again, pair, there.revision))


def _existing(alias: str, pairs: list[Pair]) -> set[int]:
    ids = [follower_id for follower_id, _ in pairs]
    return {row[0] for row in fetch_all(alias, EXISTING, (ids,))} if ids else set()


def _blocked_follows(alias: str, there: Edges) -> Iterator[AuditFinding]:
    for one, other, attribute in sorted(fetch_all(alias, BLOCKED_FOLLOWS, columns_of(there))):
        if attribute == Attribute.BLACK:
            line = f"edge {other} → {one}: follows, and {one} blocks it"
            yield AuditFinding(line, partial(end_blocked_follow, (other, one)))
        else:
            line = f"edge {one} → {other}: counts as a follower, and {other} blocks it"
            yield AuditFinding(line, partial(hide_blocked_follower, (one, other)))
