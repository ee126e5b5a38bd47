"""Second degree (R8): of those I follow, who also follows them."""

from collections.abc import Mapping, Sequence
from functools import partial

from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from relations.queries.following import load_following
from relations.types import Attribute

MOST_FAMILIAR = 80
# A followee's quiet follow is theirs to know; my own quiet followees are in `mine` all the same.
# OFFSET 0 keeps the limit out of the inner plan: hoping to find enough soon, PostgreSQL would walk
# the target's followers from the newest on, all of them where few are mine.
READ = f"""
SELECT target.id, fan.follower_id
FROM unnest(%(targets)s::bigint[]) AS target (id)
CROSS JOIN LATERAL (
    SELECT found.follower_id, found.since_ms FROM (
        SELECT follower_id, since_ms FROM relations_backwardedge
        WHERE followee_id = target.id AND follower_id = ANY(%(mine)s::bigint[])
            AND attribute = {Attribute.FOLLOW:d}
        OFFSET 0
    ) AS found
    ORDER BY found.since_ms DESC, found.follower_id DESC LIMIT %(most)s
) AS fan
"""  # noqa: S608


def load_familiar_followers(viewer_id: int, targets: Sequence[int]) -> Mapping[int, list[int]]:
    """Whom the viewer follows that follows each target openly, newest first, MOST_FAMILIAR at most.

    Cost: the viewer's following list; one query per shard of the targets, by primary key: as many
    looks a target as the viewer has followees, however many follow the target.
    """
    mine = load_following(viewer_id).followee_ids
    found: dict[int, list[int]] = {target: [] for target in targets}
    groups = group_by_shard(targets) if mine else {}
    answers = scatter({alias: partial(_read, alias, ids, mine) for alias, ids in groups.items()})
    for rows in answers.values():
        for target, fan in rows:
            found[target].append(fan)
    return found


def _read(alias: str, targets: Sequence[int], mine: Sequence[int]) -> list[tuple[int, int]]:
    params = {"targets": list(targets), "mine": mine, "most": MOST_FAMILIAR}
    return [(target, fan) for target, fan in fetch_all(alias, READ, params)]
