"""The conversation around a post: its ancestors up to the root, and its descendants."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from posts.ids import PostId
from posts.queries.responses import read_replies
from posts.queries.rows import read_posts
from posts.queries.statuses import get_original, load_visible
from posts.types import Kind, PostRow


class Bounds(NamedTuple):
    """The limits of a search. Each ancestor, and each level of descendants, costs a query."""

    ancestors: int
    descendants: int
    depth: int


# Mastodon's limits. Mastodon sets none for the ancestors and the depth of signed-in viewers.
FOR_GUESTS = Bounds(ancestors=40, descendants=60, depth=20)
FOR_VIEWERS = Bounds(ancestors=200, descendants=4_096, depth=200)


class Context(NamedTuple):
    """Status entities. `ancestors`: root first. `descendants`: each after the post it answers."""

    ancestors: Sequence[bytes]
    descendants: Sequence[bytes]


def load_context(post_id: PostId, viewer_id: int | None) -> Context:
    """The conversation around a post that the viewer may see. Raises: PostNotFound.

    A deleted ancestor ends the chain. Posts of accounts that the viewer mutes are left out, as in
    Mastodon. Cost: one query per ancestor, one per level of replies and shard, and load_visible.
    """
    original = get_original(post_id, viewer_id)
    bounds = FOR_GUESTS if viewer_id is None else FOR_VIEWERS
    ancestors = _find_ancestors(original, bounds.ancestors)
    descendants = _find_descendants(original, bounds)
    shown = load_visible({i: i for i in (*ancestors, *descendants)}, viewer_id, now_ms())
    return Context(
        [shown[i] for i in ancestors if i in shown], [shown[i] for i in descendants if i in shown]
    )


def _find_ancestors(post_id: PostId, most: int) -> list[PostId]:
    """The ancestors, the root first."""
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
    return list(_iter_thread(root, replies))


def _iter_thread(root: PostId, replies: Mapping[PostId, Sequence[PostId]]) -> Iterator[PostId]:
    """All replies below `root`, depth first, oldest first."""
    stack = list(reversed(replies.get(root, [])))
    while stack:
        reply = stack.pop()
        yield reply
        stack += reversed(replies.get(reply, []))
