"""An account's unread conversations, as its shard has them."""

from infra.moving import beginning_again
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import PostId

# The order of a PostId's fields.
UNREAD = """
SELECT last_second, last_author, last_sequence FROM conversations_conversation
WHERE owner_id = %s AND is_unread
ORDER BY last_second DESC, last_author DESC, last_sequence DESC LIMIT %s
"""


@beginning_again
def read_unread(owner_id: int, limit: int) -> list[PostId]:
    """The latest posts of the unread conversations, the newest first. One query by index."""
    return [PostId(*row) for row in fetch_all(shard_of(owner_id), UNREAD, (owner_id, limit))]
