"""Responses to a post as the account sees them that has just responded."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from counters.kinds import CounterKind
from counters.own_counts import ShownCount, field_of, find_seen_count, register_shown_count
from counters.sql import select_counts
from infra.caching.questions import Question
from infra.caller_acts import OwnAct, acts_of_request
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from posts.cache.by_post import number_of
from posts.cache.counts import ALL_KINDS, count_in, post_counts
from posts.changes import act_of_response
from posts.fragments.reactions import count_at
from posts.ids import PostId
from posts.queries.responses import read_mark_responses, read_quote_states, read_states
from posts.queries.row_pages import OwnRow
from posts.types import REACTIONS, Kind, Visibility

_KINDS = ", ".join(str(int(kind)) for kind in ALL_KINDS)
_FIELDS = {
    CounterKind.REPLIES: "replies_count",
    CounterKind.REPOSTS: "reblogs_count",
    CounterKind.FAVOURITES: "favourites_count",
    CounterKind.QUOTES: "quotes_count",
}
_RESPONSES = {
    CounterKind.REPLIES: Kind.REPLY,
    CounterKind.REPOSTS: Kind.REPOST,
    CounterKind.QUOTES: Kind.QUOTE,
    **{counted: kind for kind, counted in REACTIONS.items()},
}
# An account can have several of these to one post: each has an act with its moment, too.
_SEVERAL = (Kind.REPLY, Kind.QUOTE)

# The counts of a post, and those of the account's responses that they include. One statement, hence
# one snapshot.
COUNTED = f"""
{select_counts("%(author)s", "%(moment)s", f"kind IN ({_KINDS})")}
UNION ALL
SELECT -kind, sum(is_on::int) FROM posts_response
WHERE author_id = %(author)s AND moment = %(moment)s AND kind = %(kind)s
    AND responder_id = %(account)s AND reply_moment = ANY(%(parts)s::bigint[])
GROUP BY kind
"""  # noqa: S608
REPOST = """
SELECT moment FROM posts_post
WHERE author_id = %s AND target_moment = %s AND target_author = %s AND kind = 2
    AND deleted_at IS NULL
"""


def find_seen_responses(account_id: int, kind: Kind, post_id: PostId) -> int | None:
    """The count of these responses as the account sees it before it responds; None if Redis does
    not know. One round trip."""
    act, number = act_of_response(kind, post_id), number_of(post_id)
    counted = CounterKind(act.kind)
    cached: Question[int | None] = post_counts.ask_cached([number]).then(
        lambda entries: count_in(entries[number].payload, counted) if entries else None
    )
    return find_seen_count(account_id, act, cached)


def is_counted(kind: int, visibility: int) -> bool:
    """Whether a response is part of a count: a reply or a quote is if all may see it."""
    return kind not in _SEVERAL or visibility <= Visibility.UNLISTED


def find_own_row(account_id: int | None, kind: Kind, post_id: PostId) -> OwnRow | None:
    """The account's place among the responders of a post, while its response is pending. One query
    on the account's shard, none while it is not."""
    if account_id is None or act_of_response(kind, post_id) not in acts_of_request():
        return None
    return OwnRow(account_id, _find_time(account_id, kind, post_id))


def add_own_replies(
    account_id: int | None, parents: Collection[PostId], replies: dict[PostId, list[PostId]]
) -> None:
    """Adds the account's pending replies to these posts, also those that it has deleted."""
    if account_id is None:
        return
    for act in acts_of_request():
        parent = PostId.at(act.owner_id, act.subject)
        if act.kind == CounterKind.REPLIES and act.part and parent in parents:
            reply, known = PostId.at(account_id, act.part), replies.get(parent, [])
            replies[parent] = known if reply in known else sorted([*known, reply])


def find_own_quotes(account_id: int, quoted: PostId) -> list[PostId]:
    """The account's pending quotes of this post, also those that it has deleted, newest first."""
    counted = act_of_response(Kind.QUOTE, quoted)
    parts = [act.part for act in acts_of_request() if act.part and act[:3] == counted[:3]]
    return sorted((PostId.at(account_id, part) for part in parts), reverse=True)


def _find_time(account_id: int, kind: Kind, post_id: PostId) -> int | None:
    """When the account reposted the post, or reacted so; None if it does not now. One query."""
    alias, where = shard_of(account_id), (account_id, post_id.moment, post_id.author_id)
    if kind is Kind.REPOST:
        row = fetch_one(alias, REPOST, where)
        return row[0] if row else None
    marks = [mark for mark in read_mark_responses(alias, [(*where, int(kind))]) if mark.is_on]
    return marks[0].at if marks else None


def _read_responses(account_id: int, acts: Sequence[OwnAct]) -> int:
    """Two queries, one of them on the shard of the post."""
    post_id, counted_kind = PostId.at(acts[0].owner_id, acts[0].subject), acts[0].kind
    kind = _RESPONSES[CounterKind(counted_kind)]
    parts = [act.part for act in acts if act.part] if kind in _SEVERAL else [0]
    params: dict[str, Any] = {"author": post_id.author_id, "moment": post_id.moment}
    params |= {"account": account_id, "kind": int(kind), "parts": parts}
    counted = dict(fetch_all(shard_of(post_id.author_id), COUNTED, params))
    own = _count_own(account_id, kind, post_id, parts)
    return int(counted.get(counted_kind, 0) - counted.get(-kind, 0) + own)


def _count_own(account_id: int, kind: Kind, post_id: PostId, parts: Sequence[int]) -> int:
    """How many of these responses the account's shard has now."""
    if kind not in _SEVERAL:
        return int(_find_time(account_id, kind, post_id) is not None)
    read = read_quote_states if kind is Kind.QUOTE else read_states
    states = read(shard_of(account_id), [PostId.at(account_id, part) for part in parts])
    return sum(is_live and is_counted(kind, visibility) for is_live, visibility in states.values())


def _show_reactions(kind: int, entity: dict[str, Any], count: int) -> None:
    """The poll of a post has the id of the post."""
    if "favourites_count" in entity:
        entity["reactions"] = count_at(entity.get("reactions"), kind, count)


def _show(kind: CounterKind) -> Callable[[dict[str, Any], int], None]:
    return field_of(_FIELDS[kind]) if kind in _FIELDS else partial(_show_reactions, kind)


for _kind in ALL_KINDS:
    _shown = ShownCount(_show(_kind), lambda s: PostId.at(*s).public, _read_responses)
    register_shown_count(_kind, _shown)
