"""Votes on a poll: one statement on the shard of the poll's author, where all its votes are."""

import time
from collections.abc import Sequence

from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import owned_condition, shard_of
from infra.sharding.sql import execute, fetch_one
from posts.changes import PollVoted
from posts.errors import AlreadyVoted, CannotVoteOnOwnPoll, NoSuchChoice, PollIsOver, PollNotFound
from posts.ids import PostId

# posts/functions.sql: lock, vote, tally and change in one round trip.
VOTE = f"SELECT * FROM posts_vote({', '.join(['%s'] * 8)})"  # noqa: S608
FORGET = "DELETE FROM posts_pollvote WHERE voter_id = %s AND {owned}"
DELETE = """
WITH gone AS (SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS gone (author_id, moment)),
votes AS (DELETE FROM posts_pollvote USING gone
    WHERE (posts_pollvote.author_id, posts_pollvote.moment) = (gone.author_id, gone.moment))
DELETE FROM posts_polltally USING gone
WHERE (posts_polltally.author_id, posts_polltally.moment) = (gone.author_id, gone.moment)
"""
REFUSALS = {
    "no_poll": PollNotFound,
    "expired": PollIsOver,
    "no_choice": NoSuchChoice,
    "again": AlreadyVoted,
}


def vote(voter_id: int, post_id: PostId, choices: Sequence[int]) -> None:
    """Votes for these options, each once. The caller checks that the voter may see the post.

    If a poll allows several options, an account may add further ones later, as in Mastodon.

    Raises: PollNotFound, PollEnded, NoSuchChoice, AlreadyVoted, CannotVoteOnOwnPoll. Safety: exact
    under concurrency: votes on one author's polls run one after another. Cost: one statement.
    """
    if voter_id == post_id.author_id:
        raise CannotVoteOnOwnPoll
    author_id, moment = post_id.author_id, post_id.moment
    alias, change = shard_of(author_id), PollVoted(moment, voter_id)
    chosen = sorted(set(choices))
    values = (
        author_id,
        moment,
        voter_id,
        chosen,
        int(time.time()),
        *change_columns(author_id, change),
    )
    outcome, change_id, at = fetch_one(alias, VOTE, values)  # type: ignore[misc]  # one row
    if outcome == "again":
        # The process that wrote the vote may have died before the caches had it.
        finish_interrupted(alias, author_id)
    if outcome in REFUSALS:
        raise REFUSALS[outcome]
    announce(alias, author_id, change, AppendedChange(change_id, at))


def delete_votes_of_posts(alias: str, ids: Sequence[PostId]) -> None:
    """Deletes the votes of these posts, all of one shard. Safety: idempotent. One statement."""
    execute(alias, DELETE, ([i.author_id for i in ids], [i.moment for i in ids]))


def delete_voters(alias: str, voter_id: int) -> int:
    """Deletes on one shard who voted; the tallies stay. Returns how many votes. One statement."""
    return execute(alias, FORGET.format(owned=owned_condition(alias, "author_id")), (voter_id,))
