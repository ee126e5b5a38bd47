"""The posts that quote a post, on the shard of the quoted post."""

from typing import NamedTuple

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import PostId

QUOTING = """
SELECT responder_id, reply_moment FROM posts_response
WHERE author_id = %s AND moment = %s AND kind = %s AND is_on
    AND (responder_id, reply_moment) > (%s, %s)
ORDER BY responder_id, reply_moment LIMIT %s
"""


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
