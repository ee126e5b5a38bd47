"""The posts that quote a post, and polls that ended, with their voters: for notifications."""

from collections.abc import Sequence
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import PostId

ENDED = """
SELECT author_id, moment, (poll ->> 'expires_at_s')::bigint,
    coalesce(thread_author, author_id), coalesce(thread_moment, moment)
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (author_id, moment)
JOIN posts_post USING (author_id, moment)
WHERE deleted_at IS NULL AND is_end_reported
"""
VOTERS = """
SELECT voter_id FROM posts_pollvote JOIN posts_post USING (author_id, moment)
WHERE author_id = %s AND moment = %s AND voter_id > %s
    AND edition = coalesce((poll ->> 'edition')::integer, 0)
ORDER BY voter_id LIMIT %s
"""
QUOTING = """
SELECT responder_id, reply_moment FROM posts_response
WHERE author_id = %s AND moment = %s AND kind = %s AND is_on
    AND (responder_id, reply_moment) > (%s, %s)
ORDER BY responder_id, reply_moment LIMIT %s
"""


class EndedPoll(NamedTuple):
    """A poll that ended. `thread`: the first post of the thread of its post."""

    post_id: PostId
    ended_at_s: int
    thread: PostId


class QuotingPlace(NamedTuple):
    """Where a pass over the posts that quote a post goes on: behind this post, of this kind."""

    kind: int
    author_id: int = 0
    moment: int = 0


def list_quoting(quoted: PostId, after: QuotingPlace, limit: int) -> list[PostId]:
    """The next posts that quote this one, by author. Stale by the delay of the drain. One query by
    primary key."""
    params = (quoted.author_id, quoted.moment, *after, limit)
    return [PostId.at(*row) for row in fetch_all(shard_of(quoted.author_id), QUOTING, params)]


def load_ended_polls(alias: str, ids: Sequence[PostId]) -> list[EndedPoll]:
    """Those of the polls, all of one shard, that ended and are not deleted. One query by key."""
    columns = [[i.author_id for i in ids], [i.moment for i in ids]]
    return [
        EndedPoll(PostId.at(*row[:2]), row[2], PostId.at(*row[3:]))
        for row in fetch_all(alias, ENDED, columns)
    ]


def list_voters(post_id: PostId, after: int, limit: int) -> list[int]:
    """The first `limit` accounts above `after` that voted, in the order of their ids. One query."""
    key = (post_id.author_id, post_id.moment, after)
    return [row[0] for row in fetch_all(shard_of(post_id.author_id), VOTERS, (*key, limit))]
