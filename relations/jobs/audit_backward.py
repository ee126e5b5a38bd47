"""The pass of audit edges over backward edges: do they have a forward edge, do blocks hold (I4)?"""

from collections.abc import Iterator, Mapping
from functools import partial

from accounts.sql import EXISTING_ACCOUNT_IDS
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding
from infra.jobs.walk import Piece
from infra.sharding.sql import fetch_all
from relations.jobs.edge_sightings import backward_of
from relations.jobs.repair import (
    end_blocked_follow,
    end_orphan,
    hide_blocked_follower,
    mirror_again,
    recover,
)
from relations.queries.edges import (
    Pair,
    group_by_follower_shard,
    load_forward_edges,
    pair_columns,
)
from relations.sql import BACKWARD_TABLE, FORWARD_TABLE, IS_FOLLOW_OR_REQUEST, KIND
from relations.types import NO_EDGE, Attribute, Edge

# In one snapshot of one shard a follow is never opposite to a block: both rows are on the shard,
# and a transaction that writes one of them hides or ends the other.
BLOCKED_FOLLOWS = f"""
SELECT pair.follower_id, pair.followee_id, e.attribute
FROM unnest(%s::bigint[], %s::bigint[]) AS pair (follower_id, followee_id)
JOIN {BACKWARD_TABLE} e USING (follower_id, followee_id)
JOIN {FORWARD_TABLE} opposite ON opposite.follower_id = pair.followee_id
    AND opposite.kind = {KIND} AND opposite.followee_id = pair.follower_id
WHERE e.kind = {KIND} AND (
    (e.attribute = {Attribute.BLACK:d} AND opposite.{IS_FOLLOW_OR_REQUEST})
    OR (e.{IS_FOLLOW_OR_REQUEST} AND opposite.attribute = {Attribute.BLACK:d})
)
"""  # noqa: S608
Edges = Mapping[Pair, Edge]
WORDS = {
    Attribute.NONE: "an end",
    Attribute.FOLLOW: "a follow",
    Attribute.WHISPER: "a quiet follow",
    Attribute.BLACK: "a block",
    Attribute.REQUESTED: "a request",
    Attribute.REQUESTED_QUIETLY: "a request for a quiet follow",
}


def judge_backward(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Backward edges ahead of their forward edge, or without one; follows of a blocker.

    A backward edge that is ahead is what is left of a write that the follower's shard lost.
    `restored_wins`: a lost write is undone on this side too, unless it was a block. The forward
    edge is read after the backward one, and its revision only grows. Cost: one query, and one per
    shard of followers.
    """
    backward = backward_of(piece.rows)
    yield from _find_ahead(backward, run.restored_wins)
    yield from _find_blocked_follows(piece.alias, backward)


def _find_ahead(backward: Edges, restored_wins: bool) -> Iterator[AuditFinding]:
    for alias, group in group_by_follower_shard(backward).items():
        forward = load_forward_edges(alias, group)
        ahead = [p for p, e in group.items() if forward.get(p, NO_EDGE).revision < e.revision]
        followers = _load_existing_followers(alias, ahead)
        for pair in sorted(ahead):
            has_follower = pair[0] in followers
            # An ended edge of a follower who does not exist is no difference.
            if has_follower or group[pair].attribute is not Attribute.NONE:
                is_known = pair in forward
                yield _finding(pair, group[pair], is_known, has_follower, restored_wins)


def _finding(
    pair: Pair, backward: Edge, has_forward: bool, has_follower: bool, restored_wins: bool
) -> AuditFinding:
    line = "edge {} → {}: ".format(*pair)
    if not has_follower:
        text = f"{line}account {pair[0]} does not exist"
        return AuditFinding(text, partial(end_orphan, pair, backward))
    where = "backward edge is ahead" if has_forward else "there is no forward edge"
    text = f"{line}{where}, {WORDS[backward.attribute]} was lost"
    if restored_wins and backward.attribute is not Attribute.BLACK:
        return AuditFinding(text, partial(mirror_again, pair, backward.revision))
    return AuditFinding(text, partial(recover, pair, backward))


def _load_existing_followers(alias: str, pairs: list[Pair]) -> set[int]:
    ids = [follower_id for follower_id, _ in pairs]
    return {row[0] for row in fetch_all(alias, EXISTING_ACCOUNT_IDS, (ids,))} if ids else set()


def _find_blocked_follows(alias: str, backward: Edges) -> Iterator[AuditFinding]:
    rows = fetch_all(alias, BLOCKED_FOLLOWS, pair_columns(backward))
    for follower, followee, attribute in sorted(rows):
        if attribute == Attribute.BLACK:
            line = f"edge {followee} → {follower}: follows, and {follower} blocks it"
            yield AuditFinding(line, partial(end_blocked_follow, (followee, follower)))
        else:
            line = f"edge {follower} → {followee}: counts as a follower, and {followee} blocks it"
            yield AuditFinding(line, partial(hide_blocked_follower, (follower, followee)))
