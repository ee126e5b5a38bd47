"""Records direct posts in the conversations of the accounts that they are for."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from infra.changes.failpoints import failpoint
from posts.conversations.actions.update_conversations import OwnedPost, update_conversations
from posts.conversations.cache import end_unread
from posts.conversations.queries.participants import list_owned_posts
from posts.ids import PostId


def record_as_they_are(
    alias: str,
    named: Mapping[PostId, Collection[int]],
    is_chosen: Callable[[OwnedPost], bool] = lambda _: True,
    written_us: Mapping[PostId, int] = MappingProxyType({}),
) -> None:
    """Brings conversations up to these posts of one shard. `named`: accounts that they mention or
    mentioned. `is_chosen`: whose conversations are written. `written_us`: as update_conversations.

    Safety: idempotent, in any order, while others write: a post may be edited or deleted between
    the read and the write, so it reads and writes until two reads are equal. Raises: RedisError, so
    that a consumer runs again. Cost: two queries, what update_conversations costs, and one command
    for each account.
    """
    known = {post_id: set(accounts) for post_id, accounts in named.items()}
    owned: set[OwnedPost] = set()
    while (more := set(list_owned_posts(alias, known))) != owned:
        owned = more
        update_conversations(filter(is_chosen, owned), written_us)
        for post in owned:
            known[post.post_id].add(post.owner_id)
    failpoint("conversations.written")
    end_unread({post.owner_id for post in owned if is_chosen(post)})
