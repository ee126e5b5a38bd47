"""Changes an image inside a post that has it, in the transaction that changes the image."""

from counters.actions.move_counts import move_counts
from counters.kinds import CounterKind
from counters.types import ACCOUNT, CountMove
from infra.changes.append import append_change
from infra.sharding.sql import execute
from posts.changes import PostImagesChanged

CHANGE = """
UPDATE {table} SET media = (
    SELECT jsonb_agg(CASE (one ->> 'id')::bigint WHEN %(id)s
        THEN one || jsonb_build_object('token', %(token)s::text, 'is_hidden', %(hidden)s::boolean)
        ELSE one END ORDER BY place)
    FROM jsonb_array_elements(media) WITH ORDINALITY AS listed (one, place))
WHERE author_id = %(author)s AND moment = %(moment)s AND media IS NOT NULL
"""
_TABLES = ("posts_post", "posts_postversion")


def change_media(
    alias: str, author_id: int, moment: int, image_id: int, token: str, is_hidden: bool
) -> None:
    """Hides or shows one image of a post and of its earlier versions.

    Safety: the caller holds the lock of the account. The next read of every page obeys. Cost: four
    statements.
    """
    where = {"author": author_id, "moment": moment}
    for table in _TABLES:
        values = {"id": image_id, "token": token, "hidden": is_hidden, **where}
        execute(alias, CHANGE.format(table=table), values)
    # The count stays, but gets a new version: caches and replicas compare versions.
    moved = move_counts(alias, [CountMove(author_id, CounterKind.POSTS, 0)])
    version = moved[author_id, ACCOUNT, CounterKind.POSTS].version
    append_change(alias, author_id, PostImagesChanged(moment, version - 1, version))
