"""Viewer state: which posts an account favourited, reposted or bookmarked. One value an account.

    posts.viewer_state:v1:{account}   version:…:payload
    payload   bytes 0-3   floor: the state is complete for posts from this second on
              11 bytes    for each post: its packed id and its flags, the sum of 1 << kind

A page reads the newest MOST_INTERACTIONS in its first round trip. That suffices for most pages,
because pages show new posts. Flags of older posts are read from the account's shard. The version is
the sum of the versions of the account's counts of posts (a repost is a post) and of viewer marks.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from struct import Struct
from typing import NamedTuple

from counters.kinds import CounterKind
from counters.sql import select_versions
from infra.caching.metrics import count_reads
from infra.caching.questions import Question, Replies, answer
from infra.caching.round_trips import run_together
from infra.caching.values import ReadValue, ValueCache, Versioned
from infra.caching.viewer_validators import (
    ValidatorsQuestion,
    ViewerCopies,
    ViewerField,
    drop_validator_commands,
)
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

# One statement, hence one snapshot: the rows match the version exactly.
NEWEST = f"""
SELECT owner_id, NULL, NULL, NULL, version
FROM ({select_versions("%(owners)s", "%(counted)s")}) AS counted
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
"""  # noqa: S608
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
    """The viewer state of an account, complete for posts from the second `floor` on.

    `wrote_lately`: the account must see its own writes, so counts from process memory are too old.
    """

    floor: int
    flags: Flags
    wrote_lately: bool = False


class CachedState(NamedTuple):
    """A state in process memory. `fresh_until`: the soft time to live of its entry in Redis."""

    fresh_until: int
    state: ViewerState


def _load(owner_ids: Sequence[int]) -> Mapping[int, Versioned]:
    calls = {
        alias: partial(_load_shard, alias, owners)
        for alias, owners in group_by_shard(owner_ids).items()
    }
    return {owner: v for part in scatter(calls).values() for owner, v in part.items()}


def _load_shard(alias: str, owner_ids: Sequence[int]) -> dict[int, Versioned]:
    """The states of one shard's accounts, with versions. One query."""
    versions = dict.fromkeys(owner_ids, 0)
    rows: dict[int, list[tuple[PostId, int]]] = {owner_id: [] for owner_id in owner_ids}
    params = {"owners": list(owner_ids), "most": MOST_INTERACTIONS + 1, "counted": COUNTED}
    for owner_id, author_id, moment, kind, version in fetch_all(alias, NEWEST, params):
        if kind is None:
            versions[owner_id] = version
        else:
            rows[owner_id].append((PostId.at(author_id, moment), kind))
    return {i: Versioned(versions[i], pack(build_viewer_state(rows[i]))) for i in owner_ids}


def _is_packed(payload: bytes) -> bool:
    return (len(payload) - FLOOR.size) % RECORD.size == 0


viewer_states = ValueCache("posts.viewer_state:v1", ttl_s=86_400, load=_load, check=_is_packed)
_states: ViewerCopies[CachedState] = ViewerCopies(viewer_states.family, MOST_DECODED)


def build_viewer_state(rows: Sequence[tuple[PostId, int]]) -> ViewerState:
    """The state from the newest MOST_INTERACTIONS + 1 rows of each table.

    A table with that many rows is cut off. The floor is the higher of the two cuts.
    """
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


def ask_viewer_state(account_id: int, validators: ValidatorsQuestion) -> Question[ViewerState]:
    """The viewer state. `validators`: of the viewer, asked before in the same round trip.

    Cost: no command when it is cached here, one round trip more when that has changed; one query
    and two more round trips when Redis lacks it.
    """
    if _states.has(account_id):
        return Question((), partial(_confirm, account_id, validators))
    validators.create(ViewerField.STATE)
    return viewer_states.ask_one(account_id).then(partial(_keep, account_id, validators))


def _confirm(account_id: int, validators: ValidatorsQuestion, _: Replies) -> ViewerState:
    """The state in memory, if it is valid; else the one that Redis has now."""
    cached = _states.find(account_id, validators.value.state)
    if cached is None or time.time() >= cached.fresh_until:
        return _keep(account_id, validators, answer(viewer_states.ask_one(account_id)))
    count_reads(viewer_states.family, "process", 1)
    return _with_own_writes(cached.state, validators)


def _keep(account_id: int, validators: ValidatorsQuestion, read: ReadValue) -> ViewerState:
    state, validator = unpack(read.payload), validators.value.state
    # Without an entry the state may be one that another thread began to load before.
    if read.fresh_until is not None:
        _states.keep(account_id, validator, CachedState(read.fresh_until, state))
    return _with_own_writes(state, validators)


def _with_own_writes(state: ViewerState, validators: ValidatorsQuestion) -> ViewerState:
    return state._replace(wrote_lately=True) if validators.value.wrote_lately else state


def load_flags(account_id: int, state: ViewerState, ids: Iterable[PostId]) -> Flags:
    """The flags of these posts, and perhaps of other posts, each a sum of 1 << kind.

    Cost: nothing, or one query for the posts below the floor.
    """
    older = [i for i in ids if i.second < state.floor] if state.floor else []
    return {**state.flags, **read_viewer_flags(account_id, older)} if older else state.flags


def read_viewer_flags(account_id: int, ids: Sequence[PostId]) -> dict[PostId, int]:
    """The flags of these posts from the account's shard. One query by key."""
    authors, moments = [i.author_id for i in ids], [i.moment for i in ids]
    params = {"owner": account_id, "authors": authors, "moments": moments}
    flags: dict[PostId, int] = {}
    for *target, kind in fetch_all(shard_of(account_id), BY_POST, params):
        _add(flags, PostId.at(*target), kind)
    return flags


def refresh_viewer_states(account_ids: Iterable[int]) -> None:
    """Writes the current viewer states to Redis. One query per shard, two round trips, which are
    shared inline.

    Raises: RedisError, so that the consumer runs again.
    """
    owners = list(dict.fromkeys(account_ids))
    viewer_states.refresh(_load(owners))
    run_together(drop_validator_commands(owners, ViewerField.STATE), is_last=True)


def _add(flags: dict[PostId, int], post_id: PostId, kind: int) -> None:
    flags[post_id] = flags.get(post_id, 0) | 1 << kind
