"""Takes back that a post quotes another one: one statement on the shard of the quoting post."""

from msgspec.structs import replace

from infra.changes.append import AppendedChange, announce, change_columns, finish_interrupted
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from posts.changes import QuoteRevoked
from posts.errors import QuoteNotFound
from posts.ids import PostId
from posts.queries.rows import read_posts

# posts/functions.sql: lock, row, version and change in one round trip.
REVOKE = f"SELECT * FROM posts_revoke_quote({', '.join(['%s'] * 7)})"  # noqa: S608


def revoke_quote(quoting: PostId, quoted: PostId) -> bool:
    """Ends a quote for good: the quoting post stays, without the quoted one. False: it had ended.

    The next read of every page obeys. The caller checks that the quoted post is the viewer's. The
    drain moves the count of the quoted post. Raises: QuoteNotFound, also if the account of the
    quoting post is gone. Safety: idempotent. Cost: one statement on the shard of the quoting post,
    which is not that of the caller; two if it had ended.
    """
    author_id, alias = quoting.author_id, shard_of(quoting.author_id)
    place = (quoted.author_id, quoted.moment)
    change = QuoteRevoked(quoting.moment, 0, 0, place)
    values = (author_id, quoting.moment, *place, *change_columns(author_id, change))
    is_known, version, change_id, at = fetch_one(alias, REVOKE, values)  # type: ignore[misc]  # one row
    if not is_known:
        raise QuoteNotFound
    if change_id is None:
        finish_interrupted(alias, author_id)
        if not _is_revoked(alias, quoting, quoted):
            raise QuoteNotFound
        return False
    change = replace(change, before=version - 1, after=version)
    announce(alias, author_id, change, AppendedChange(change_id, at))
    return True


def _is_revoked(alias: str, quoting: PostId, quoted: PostId) -> bool:
    """One query by key."""
    rows = read_posts(alias, [quoting])
    return bool(rows) and rows[0].quoted == quoted and rows[0].is_quote_revoked
