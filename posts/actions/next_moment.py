"""The next id and count of an author, for all actions that create or delete posts."""

from counters.actions.move import move
from counters.kinds import CounterKind
from counters.types import ACCOUNT, CountMove
from infra.sharding.sql import fetch_one
from posts.ids import SEQUENCES, second_of

LATEST = "SELECT moment FROM posts_post WHERE author_id = %s ORDER BY moment DESC LIMIT 1"


def next_moment(alias: str, author_id: int, now_s: float) -> int:
    """The moment of the author's next post: now, or directly after their latest post.

    After 1,296 posts in one second the moment falls into the next second. The caller holds the
    author's row lock.
    """
    latest = fetch_one(alias, LATEST, (author_id,))
    return max(second_of(now_s) * SEQUENCES, latest[0] + 1 if latest else 0)


def move_post_count(alias: str, author_id: int, delta: int) -> int:
    """Adds `delta` to the author's count of posts; returns the new version of their posts."""
    moved = move(alias, [CountMove(author_id, CounterKind.POSTS, delta)])
    return moved[author_id, ACCOUNT, CounterKind.POSTS].version
