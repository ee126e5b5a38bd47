"""What an account itself did with posts: favourited, reposted, bookmarked. One value an account.

    payload   bytes  0-3   floor: below this second there may be more
              11 bytes     of each post: its packed id and the sum of 1 << kind

Most have few state, and pages show new posts: the newest MOST_MARKS ride along with a page's first
round trip. What is older is asked of the account's shard. The version is the sum of those of the
account's posts (reposts are posts) and of its state.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from struct import Struct
from typing import NamedTuple

from cachebox import LRUCache

from counters.kinds import CounterKind
from infra.caching.client import Command
from infra.caching.metrics import count_reads
from infra.caching.values import ValueCache, Versioned, read_entry
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.ids import PostId
from posts.types import Kind

MOST_INTERACTIONS = 500
MOST_DECODED = 10_000
FLOOR = Struct(">I")
RECORD = Struct(">IIHB")
COUNTED = [CounterKind.POSTS.value, CounterKind.VIEWER_MARKS.value]

# One statement, one moment: the rows are exactly what the version says.
NEWEST = """
SELECT owner_id, NULL, NULL, NULL, sum(version)::bigint FROM counters_counter
WHERE owner_id = ANY(%(owners)s::bigint[]) AND subject = 0 AND kind = ANY(%(counted)s::smallint[])
GROUP BY owner_id
UNION ALL
SELECT wanted.id, m.target_author, m.target_moment, m.kind, 0
FROM unnest(%(owners)s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    (SELECT target_author, target_moment, kind FROM posts_viewermark
     WHERE owner_id = wanted.id AND is_on
     ORDER BY target_moment DESC, target_author DESC LIMIT %(most)s)
    UNION ALL
    (SELECT target_author, target_moment, kind FROM posts_post
     WHERE author_id = wanted.id AND kind = 2 AND deleted_at IS NULL
     ORDER BY target_moment DESC, target_author DESC LIMIT %(most)s)
) m
"""
BY_POST = """
WITH wanted AS (SELECT * FROM unnest(%(authors)s::bigint[], %(moments)s::bigint[])
    AS w (target_author, target_moment))
SELECT target_author, target_moment, m.kind FROM wanted
JOIN posts_viewermark m USING (target_author, target_moment)
WHERE m.owner_id = %(owner)s AND m.is_on
UNION ALL
SELECT target_author, target_moment, p.kind FROM wanted
JOIN posts_post p USING (target_author, target_moment)
WHERE p.author_id = %(owner)s AND p.kind = 2 AND p.deleted_at IS NULL
"""

Flags = Mapping[PostId, int]


class ViewerState(NamedTuple):
    """The newest state of an account: complete from the second `floor` on."""

    floor: int
    flags: Flags


class DecodedReply(NamedTuple):
    """What Redis last answered, and what that meant: a reader's next page brings the same bytes."""

    reply: bytes
    fresh_until: int
    state: ViewerState


def _load(owner_ids: Sequence[int]) -> Mapping[int, Versioned]:
    calls = {
        alias: partial(_load_shard, alias, owners)
        for alias, owners in group_by_shard(owner_ids).items()
    }
    return {owner: v for part in scatter(calls).values() for owner, v in part.items()}


def _load_shard(alias: str, owner_ids: Sequence[int]) -> dict[int, Versioned]:
    """One query."""
    versions = dict.fromkeys(owner_ids, 0)
    rows: dict[int, list[tuple[PostId, int]]] = {owner_id: [] for owner_id in owner_ids}
    params = {"owners": list(owner_ids), "most": MOST_INTERACTIONS + 1, "counted": COUNTED}
    for owner_id, author_id, moment, kind, version in fetch_all(alias, NEWEST, params):
        if kind is None:
            versions[owner_id] = version
        else:
            rows[owner_id].append((PostId.at(author_id, moment), kind))
    return {i: Versioned(versions[i], pack(build_viewer_state(rows[i]))) for i in owner_ids}


viewer_states = ValueCache("posts.viewer_state:v1", ttl_s=86_400, load=_load)
_decoded: LRUCache[int, DecodedReply] = LRUCache(MOST_DECODED)


def build_viewer_state(rows: Sequence[tuple[PostId, int]]) -> ViewerState:
    """Of the newest MOST_MARKS + 1 of either table, those above the higher of the two cuts."""
    reposted = [post_id for post_id, kind in rows if kind == Kind.REPOST]
    marked = [post_id for post_id, kind in rows if kind != Kind.REPOST]
    cut = [min(ids).second + 1 for ids in (reposted, marked) if len(ids) > MOST_INTERACTIONS]
    floor = max(cut, default=0)
    flags: dict[PostId, int] = {}
    for post_id, kind in rows:
        if post_id.second >= floor:
            _add(flags, post_id, kind)
    return ViewerState(floor, flags)


def pack(state: ViewerState) -> bytes:
    records = [RECORD.pack(*post_id, flags) for post_id, flags in state.flags.items()]
    return FLOOR.pack(state.floor) + b"".join(records)


def unpack(payload: bytes) -> ViewerState:
    (floor,) = FLOOR.unpack_from(payload)
    records = RECORD.iter_unpack(payload[FLOOR.size :])
    return ViewerState(floor, {PostId(*record[:3]): record[3] for record in records})


def viewer_state_command(account_id: int) -> Command:
    """For gathering into a larger round trip; reply for `complete_own_marks`."""
    return ("GET", viewer_states.key(account_id))


def complete_viewer_state(account_id: int, reply: bytes | None) -> ViewerState:
    """The account's newest state from the reply to `own_marks_command`, None without Redis.

    Cost: nothing when cached, else one query and two round trips.
    """
    known = _decoded.get(account_id)
    if known is not None and known.reply == reply and time.time() < known.fresh_until:
        count_reads(viewer_states.family, "redis", 1)
        return known.state
    state = unpack(viewer_states.complete({account_id: reply})[account_id])
    if reply is not None:
        _decoded[account_id] = DecodedReply(reply, read_entry(reply).fresh_until, state)
    return state


def find_flags(account_id: int, state: ViewerState, ids: Iterable[PostId]) -> Flags:
    """What the account did with these posts, and perhaps others, as sums of 1 << kind.

    Cost: nothing, or one query for what is older than the newest state.
    """
    older = [i for i in ids if i.second < state.floor] if state.floor else []
    return {**state.flags, **read_viewer_flags(account_id, older)} if older else state.flags


def read_viewer_flags(account_id: int, ids: Sequence[PostId]) -> dict[PostId, int]:
    """What the account did with these posts, from its shard. One query by keys."""
    authors, moments = [i.author_id for i in ids], [i.moment for i in ids]
    params = {"owner": account_id, "authors": authors, "moments": moments}
    flags: dict[PostId, int] = {}
    for *target, kind in fetch_all(shard_of(account_id), BY_POST, params):
        _add(flags, PostId.at(*target), kind)
    return flags


def refresh_viewer_states(account_ids: Iterable[int]) -> None:
    """Brings cached state up to the rows. One query per shard, one round trip.

    Raises: RedisError, so that a consumer is run again.
    """
    viewer_states.refresh(_load(list(dict.fromkeys(account_ids))))


def _add(flags: dict[PostId, int], post_id: PostId, kind: int) -> None:
    flags[post_id] = flags.get(post_id, 0) | 1 << kind
