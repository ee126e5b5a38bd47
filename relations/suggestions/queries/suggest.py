"""Suggestions (R8): accounts that are followed by followees of the viewer."""

import random
from collections import Counter
from collections.abc import Sequence
from functools import partial

from accounts.sql import shows_collections
from infra.clock import now_ms
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter_available
from infra.sharding.sql import fetch_all
from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.sql import FORWARD_TABLE, IS_FOLLOW, KIND
from relations.types import Attribute
from relations.visibility import Surface, hidden_among

# So the cost has a limit: at most MOST_FRIENDS * MOST_FOLLOWS entries of an index.
MOST_FRIENDS, MOST_FOLLOWS = 50, 100
# Relationships are asked of fewer than a thousand accounts at once.
MOST_RANKED = 800
# Quiet follows of followees are secret, and all follows of those that hide their lists. The index
# serves IS_FOLLOW.
READ = f"""
SELECT followed.followee_id, count(*) FROM unnest(%s::bigint[]) AS friend (id)
CROSS JOIN LATERAL (
    SELECT followee_id FROM {FORWARD_TABLE}
    WHERE follower_id = friend.id AND kind = {KIND} AND {IS_FOLLOW}
        AND attribute = {Attribute.FOLLOW:d}
    ORDER BY since_ms DESC, followee_id DESC LIMIT %s
) AS followed WHERE {shows_collections("friend.id")} GROUP BY followed.followee_id
"""  # noqa: S608
LIST_DISMISSED = "SELECT account_id FROM suggestions_dismissedsuggestion WHERE owner_id = %s"


def list_suggestions(viewer_id: int, day: int) -> list[int]:
    """Accounts to follow: those that most followees of the viewer follow come first.

    None that the viewer follows, has asked to follow, mutes or has dismissed, and none that blocks
    the viewer or is blocked. Of more than MOST_FRIENDS followees a sample is read, the same one for
    the whole `day`. Shards that do not answer are left out. Cost: the following list, one query on
    each shard of the sample and one on the viewer's; relationships of the candidates.
    """
    mine = load_following(viewer_id).followee_ids
    counts = _count_followers(_sample(mine, random.Random(f"{viewer_id} {day}")))
    for account_id in (viewer_id, *mine):
        counts.pop(account_id, None)
    likely = sorted(counts, key=lambda i: (-counts[i], i))[:MOST_RANKED]
    if not likely:
        return []
    hidden = hidden_among(Surface.SUGGESTED, load_relationships(viewer_id, likely), now_ms())
    hidden |= load_dismissed(viewer_id)
    return [i for i in likely if i not in hidden]


def load_dismissed(owner_id: int) -> set[int]:
    """The accounts that the owner does not want suggested. One query by key."""
    return {row[0] for row in fetch_all(shard_of(owner_id), LIST_DISMISSED, (owner_id,))}


def _sample(followee_ids: Sequence[int], draw: random.Random) -> Sequence[int]:
    if len(followee_ids) <= MOST_FRIENDS:
        return followee_ids
    return draw.sample(followee_ids, MOST_FRIENDS)


def _count_followers(friends: Sequence[int]) -> Counter[int]:
    """How many of these accounts follow each account, by their newest open follows."""
    calls = {
        alias: partial(fetch_all, alias, READ, (ids, MOST_FOLLOWS))
        for alias, ids in group_by_shard(friends).items()
    }
    counts: Counter[int] = Counter()
    for rows in scatter_available(calls).values():
        for account_id, count in rows:
            counts[account_id] += count
    return counts
