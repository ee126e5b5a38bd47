"""Familiar followers (R8): accounts I follow that also follow another account."""

from collections.abc import Mapping, Sequence
from functools import partial

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from relations.queries.following import load_following
from relations.sql import BACKWARD_TABLE, KIND
from relations.types import Attribute

MOST_FAMILIAR = 80
# Quiet follows of my followees stay secret. My own quiet followees are in `mine`.
# One look at the primary key for each of mine: OFFSET 0 keeps the condition on the attribute out of
# it, and with it the index of followers. Else PostgreSQL would walk all followers of the target.
READ = f"""
SELECT target.id, fan.follower_id
FROM unnest(%(targets)s::bigint[]) AS target (id)
CROSS JOIN LATERAL (
    SELECT found.follower_id, found.since_ms FROM unnest(%(mine)s::bigint[]) AS my (followee_id)
    CROSS JOIN LATERAL (
        SELECT follower_id, since_ms, attribute FROM {BACKWARD_TABLE}
        WHERE followee_id = target.id AND kind = {KIND} AND follower_id = my.followee_id
        OFFSET 0
    ) AS found
    WHERE found.attribute = {Attribute.FOLLOW:d}
    ORDER BY found.since_ms DESC, found.follower_id DESC LIMIT %(most)s
) AS fan
"""  # noqa: S608


def load_familiar_followers(viewer_id: int, targets: Sequence[int]) -> Mapping[int, list[int]]:
    """By target: the viewer's followees that openly follow it, newest first, MOST_FAMILIAR at most.

    Cost: the viewer's following list, and one query per shard of the targets. It looks up one
    primary key for each target and followee of the viewer, however many followers a target has.
    """
    mine = load_following(viewer_id).followee_ids
    fans_of: dict[int, list[int]] = {target: [] for target in targets}
    groups = group_by_shard(targets) if mine else {}
    answers = scatter({alias: partial(_read, alias, ids, mine) for alias, ids in groups.items()})
    for rows in answers.values():
        for target, fan in rows:
            fans_of[target].append(fan)
    return fans_of


def _read(alias: str, targets: Sequence[int], mine: Sequence[int]) -> list[tuple[int, int]]:
    params = {"targets": list(targets), "mine": mine, "most": MOST_FAMILIAR}
    return [(target, fan) for target, fan in fetch_all(alias, READ, params)]
