"""Viewer state: which posts an account favourited, reposted, bookmarked or pinned, and its filters.

One value an account.

    posts.viewer_state:v3:{account}   version:…:payload (viewer_state_payload.py)

A page reads the newest MOST_INTERACTIONS in its first round trip. That suffices for most pages,
because pages show new posts. Flags of older posts are read from the account's shard. The version is
the sum of the versions of the account's counts of posts (a repost is a post), of viewer marks and
of filters.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from counters.kinds import CounterKind
from counters.sql import select_versions
from infra.caching.questions import Question
from infra.caching.values import ValueCache, Versioned
from infra.clock import now_ms
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all
from posts.cache.viewer_state_payload import (
    NO_STATE,
    ViewerState,
    add_flag,
    build_viewer_state,
    is_packed,
    pack,
    unpack,
)
from posts.filters.matching import NO_FILTERS, FilterSet
from posts.filters.sql import select_filters
from posts.fragments.present import Flags, add_muted
from posts.ids import PostId

MOST_INTERACTIONS = 500
COUNTED = [
    kind.value for kind in (CounterKind.POSTS, CounterKind.VIEWER_MARKS, CounterKind.FILTERS)
]

# One statement, hence one snapshot: the rows match the version exactly.
NEWEST = f"""
SELECT owner_id, NULL, NULL, NULL, version, NULL
FROM ({select_versions("%(owners)s", "%(counted)s")}) AS counted
UNION ALL
SELECT wanted.id, m.target_author, m.target_moment, m.kind, 0, NULL
FROM unnest(%(owners)s::bigint[]) AS wanted (id)
CROSS JOIN LATERAL (
    (SELECT target_author, target_moment, kind FROM posts_viewermark
     WHERE owner_id = wanted.id AND kind = 5 AND is_on
     ORDER BY since_ms DESC, target_author DESC, target_moment DESC LIMIT %(most)s)
    UNION ALL
    (SELECT target_author, target_moment, kind FROM posts_viewermark
     WHERE owner_id = wanted.id AND is_on AND kind <> 5
     ORDER BY target_moment DESC, target_author DESC LIMIT %(most)s)
    UNION ALL
    (SELECT target_author, target_moment, kind FROM posts_post
     WHERE author_id = wanted.id AND kind = 2 AND deleted_at IS NULL
     ORDER BY target_moment DESC, target_author DESC LIMIT %(most)s)
) m
UNION ALL
SELECT owner_id, NULL, NULL, NULL, 0, rule FROM ({select_filters("%(owners)s")}) AS filters
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

BY_POST_WITH_FILTERS = f"""
SELECT *, NULL FROM ({BY_POST}) AS marks
UNION ALL
SELECT NULL, NULL, NULL, rule FROM ({select_filters("%(owners)s")}) AS filters
"""  # noqa: S608


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
    rules: dict[int, list[str]] = {owner_id: [] for owner_id in owner_ids}
    params = {"owners": list(owner_ids), "most": MOST_INTERACTIONS + 1, "counted": COUNTED}
    for owner_id, author_id, moment, kind, version, rule in fetch_all(alias, NEWEST, params):
        if rule is not None:
            rules[owner_id].append(rule)
        elif kind is None:
            versions[owner_id] = version
        else:
            rows[owner_id].append((PostId.at(author_id, moment), kind))
    return {
        i: Versioned(
            versions[i], pack(build_viewer_state(rows[i], MOST_INTERACTIONS), _join(rules[i]))
        )
        for i in owner_ids
    }


def _join(rules: Sequence[str]) -> bytes:
    return f"[{','.join(rules)}]".encode() if rules else b""


viewer_states = ValueCache("posts.viewer_state:v3", ttl_s=86_400, load=_load, check=is_packed)


def ask_viewer_state(account_id: int) -> Question[ViewerState]:
    """The viewer state, with the filters that hold now.

    Cost: one command; one query and two more round trips when Redis lacks it.
    """
    return viewer_states.ask_uncopied([account_id]).then(partial(_read_state, account_id))


def _read_state(account_id: int, payloads: Mapping[int, bytes]) -> ViewerState:
    payload = payloads.get(account_id)
    state = unpack(payload) if payload else NO_STATE
    return state._replace(filters=state.filters.at(now_ms())) if state.filters else state


def load_flags(
    account_id: int, state: ViewerState, ids: Iterable[PostId], texts: Mapping[PostId, bytes]
) -> Flags:
    """The flags of these posts, and perhaps of other posts, each a sum of 1 << kind.

    `texts`: fragments or Status entities by post; ids without a text do not matter. Cost: nothing,
    or one query for the posts below the floor.
    """
    if not (state.floor or state.muted):
        return state.flags
    posts = {i: texts[i] for i in ids if i in texts}
    older = [i for i in posts if i.second < state.floor] if state.floor else []
    flags = {**state.flags, **read_viewer_flags(account_id, older)} if older else state.flags
    return add_muted(flags, state.muted, posts) if state.muted else flags


def read_viewer_flags(account_id: int, ids: Sequence[PostId]) -> dict[PostId, int]:
    """The flags of these posts from the account's shard. One query by key."""
    authors, moments = [i.author_id for i in ids], [i.moment for i in ids]
    params = {"owner": account_id, "authors": authors, "moments": moments}
    flags: dict[PostId, int] = {}
    for *target, kind in fetch_all(shard_of(account_id), BY_POST, params):
        add_flag(flags, PostId.at(*target), kind)
    return flags


def read_own_marks(
    account_id: int, ids: Sequence[PostId]
) -> tuple[Mapping[PostId, int], FilterSet]:
    """The account's flags of these posts, and its filters, from its shard. One query by keys."""
    authors, moments = [i.author_id for i in ids], [i.moment for i in ids]
    params = {"owner": account_id, "owners": [account_id], "authors": authors, "moments": moments}
    flags: dict[PostId, int] = {}
    rules = []
    for *target, kind, rule in fetch_all(shard_of(account_id), BY_POST_WITH_FILTERS, params):
        if rule is None:
            add_flag(flags, PostId.at(*target), kind)
        else:
            rules.append(rule)
    return flags, FilterSet.decode(_join(rules)).at(now_ms()) if rules else NO_FILTERS


def refresh_viewer_states(account_ids: Iterable[int]) -> None:
    """Writes the current viewer states to Redis. One query per shard, one round trip, which is
    shared inline.

    Raises: RedisError, so that the consumer runs again.
    """
    viewer_states.refresh(_load(list(dict.fromkeys(account_ids))))
