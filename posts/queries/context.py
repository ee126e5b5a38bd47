"""What a post answers, up to its root, and what answers it, down to a bound."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from infra.sharding.buckets import shard_of
from posts.ids import PostId
from posts.queries.responses import read_replies
from posts.queries.rows import read_posts
from posts.queries.statuses import get_original, load_visible
from posts.types import Kind, PostRow


class Bounds(NamedTuple):
    """How far is looked. Each ancestor, and each level of descendants, costs a query."""

    ancestors: int
    descendants: int
    depth: int


# Mastodon's, but for the ancestors and the depth of who has signed in, which it does not bound.
FOR_ANYBODY = Bounds(ancestors=40, descendants=60, depth=20)
FOR_VIEWERS = Bounds(ancestors=200, descendants=4_096, depth=200)


class Context(NamedTuple):
    """Status entities: `ancestors` from the root down, `descendants` each after what it answers."""

    ancestors: Sequence[bytes]
    descendants: Sequence[bytes]


def load_context(post_id: PostId, viewer_id: int | None) -> Context:
    """The conversation around a post the viewer may see. Raises PostNotFound.

    An ancestor that was deleted ends the chain. Cost: a query an ancestor, one per shard and level
    of replies, then as load_shown.
    """
    original = get_original(post_id, viewer_id)
    bounds = FOR_ANYBODY if viewer_id is None else FOR_VIEWERS
    ancestors = _find_ancestors(original, bounds.ancestors)
    descendants = _find_descendants(original, bounds)
    shown = load_visible({i: i for i in (*ancestors, *descendants)}, viewer_id)
    return Context(
        [shown[i] for i in ancestors if i in shown], [shown[i] for i in descendants if i in shown]
    )


def _find_ancestors(post_id: PostId, most: int) -> list[PostId]:
    """The root first."""
    found: list[PostId] = []
    row = _find_live(post_id)
    while row is not None and row.kind == Kind.REPLY and row.target and len(found) < most:
        parent = row.target.post_id
        row = _find_live(parent)
        if row is not None:
            found.append(parent)
    return found[::-1]


def _find_live(post_id: PostId) -> PostRow | None:
    rows = read_posts(shard_of(post_id.author_id), [post_id])
    return rows[0] if rows else None


def _find_descendants(root: PostId, bounds: Bounds) -> list[PostId]:
    replies: dict[PostId, list[PostId]] = {}
    level, left = [root], bounds.descendants
    for _ in range(bounds.depth):
        found = read_replies(level, left)
        replies |= found
        level = [reply for children in found.values() for reply in children]
        left -= len(level)
        if not level or left <= 0:
            break
    return list(_walk(root, replies))


def _walk(root: PostId, replies: Mapping[PostId, Sequence[PostId]]) -> Iterator[PostId]:
    """Depth first, the oldest first."""
    waiting = list(reversed(replies.get(root, [])))
    while waiting:
        reply = waiting.pop()
        yield reply
        waiting += reversed(replies.get(reply, []))
