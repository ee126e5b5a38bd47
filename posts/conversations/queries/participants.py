"""The direct posts of changes, for each account that they are for, as they are now."""

from collections.abc import Collection, Iterator, Mapping

from posts.conversations.actions.update_conversations import OwnedPost
from posts.ids import PostId
from posts.queries.rows import read_own_posts
from posts.types import PostRow, Visibility


def list_owned_posts(alias: str, named: Mapping[PostId, Collection[int]]) -> list[OwnedPost]:
    """`named`: posts of one shard, and accounts that they mention or mentioned. One query."""
    rows = {PostId.at(row.author_id, row.moment): row for row in read_own_posts(alias, list(named))}
    return [
        owned
        for post_id, mentioned in named.items()
        for owned in _iter_owned(post_id, mentioned, rows.get(post_id))
    ]


def _iter_owned(
    post_id: PostId, mentioned: Collection[int], row: PostRow | None
) -> Iterator[OwnedPost]:
    owners = participants_of(row) if row is not None else set()
    for owner_id in owners:
        yield OwnedPost(owner_id, post_id, row.thread if row else None)
    for owner_id in {post_id.author_id, *mentioned} - owners:
        yield OwnedPost(owner_id, post_id, None)


def participants_of(row: PostRow) -> set[int]:
    """The author of a direct post, and the accounts that it mentions; none of another post."""
    if row.visibility != Visibility.DIRECT:
        return set()
    return {row.author_id, *(account_id for account_id, _ in row.mentions or ())}
