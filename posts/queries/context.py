"""The conversation around a post: its ancestors up to the root, and its descendants."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from infra import deadline
from infra.caching.questions import answer
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.cache.ancestors import ask_ancestors, keep_ancestors
from posts.cache.replies import load_replies
from posts.ids import PostId
from posts.queries.own_responses import add_own_replies
from posts.reading.statuses import MOST_AT_ONCE, get_original, load_visible
from posts.types import Kind
from relations.visibility import Surface

# A deleted post still knows what it answered, so the posts above it are found.
ANCESTORS = f"""
WITH RECURSIVE answered AS (
    SELECT 1 AS step, target_author, target_moment FROM posts_post
    WHERE author_id = %s AND moment = %s AND kind = {Kind.REPLY:d}
    UNION ALL
    SELECT step + 1, post.target_author, post.target_moment
    FROM answered
    JOIN posts_post AS post
        ON (author_id, moment) = (answered.target_author, answered.target_moment)
    WHERE kind = {Kind.REPLY:d} AND step < %s
)
SELECT target_author, target_moment FROM answered ORDER BY step
"""  # noqa: S608
# Shards that are asked one after another for ancestors. Two people may take turns on two shards.
MOST_HOPS = 200
# Of all posts together, as JSON.
MOST_BYTES = 8_000_000


class Bounds(NamedTuple):
    """The limits of a search. Each level of descendants costs a round trip, or a query a shard."""

    ancestors: int
    descendants: int
    depth: int


# Mastodon's limits. Mastodon sets none for the depth of signed-in viewers.
FOR_GUESTS = Bounds(ancestors=40, descendants=60, depth=20)
FOR_VIEWERS = Bounds(ancestors=4_096, descendants=4_096, depth=200)


class Part(NamedTuple):
    """A part of a conversation: so many ancestors, and so many descendants, in all `most_bytes`.

    `after`: go on below this descendant; then the ancestors are left out.
    """

    limit: int
    most_bytes: int
    after: PostId | None = None


WHOLE = Part(FOR_VIEWERS.descendants, MOST_BYTES)


class Context(NamedTuple):
    """Status entities. `ancestors`: root first. `descendants`: each after the post it answers.

    `last`: the descendant after which there is more; None at the end.
    """

    ancestors: Sequence[bytes]
    descendants: Sequence[bytes]
    last: PostId | None


def load_context(post_id: PostId, viewer_id: int | None, part: Part = WHOLE) -> Context:
    """The conversation around a post that the viewer may see. Raises: PostNotFound.

    Deleted posts are left out, but not what is above and below them. Posts of accounts that the
    viewer mutes are left out, as in Mastodon. A thread that is too long is cut: at the bounds, at
    the bytes of the part, and when half of the time of the request is over. Only the posts of the
    part are loaded, and the replies to them.

    Cost when warm: no SQL; a round trip for the ancestors, one per level of replies, and what
    get_original and load_visible cost. Else one query for each run of ancestors on one shard, and
    one per level of replies and shard.
    """
    original = get_original(post_id, viewer_id)
    bounds = FOR_GUESTS if viewer_id is None else FOR_VIEWERS
    most = 0 if part.after else min(part.limit, bounds.ancestors)
    ancestors = _find_ancestors(original, most) if most else []
    is_whole = part.limit >= bounds.descendants or viewer_id is None
    find = _find_in_whole if is_whole else _find_in_part
    below = find(original, bounds, viewer_id, part)
    descendants = below[: part.limit]
    shown, loaded = _load_shown([*ancestors, *descendants], viewer_id, part.most_bytes)
    descendants = descendants[: max(0, loaded - len(ancestors))]
    return Context(
        [shown[i] for i in reversed(ancestors) if i in shown],
        [shown[i] for i in descendants if i in shown],
        descendants[-1] if descendants and descendants[-1] != below[-1] else None,
    )


def _find_in_whole(
    root: PostId, bounds: Bounds, viewer_id: int | None, part: Part
) -> Sequence[PostId]:
    """All descendants after `part.after`. None if it is not among them: nothing is below it."""
    below = _find_descendants(root, bounds, viewer_id)
    if part.after is None:
        return below
    return below[below.index(part.after) + 1 :] if part.after in below else []


def _find_in_part(
    root: PostId, bounds: Bounds, viewer_id: int | None, part: Part
) -> Sequence[PostId]:
    """The descendants of the part, and the one after them if there is more.

    Each round asks for the replies to the posts that the part would now have. So a part of a very
    long thread costs what it has, and a round trip a level.
    """
    path = _find_path(root, part.after, bounds.ancestors) if part.after else [root]
    replies: dict[PostId, list[PostId]] = {}
    unread: Sequence[PostId] = path
    below: list[PostId] = []
    while unread:
        replies |= _load_replies(unread, bounds.descendants, viewer_id)
        below = list(islice(_iter_after(path, replies), part.limit + 1))
        if deadline.is_half_over():
            break
        unread = [i for i in below[: part.limit] if i not in replies]
    return below


def _find_path(root: PostId, last: PostId, most: int) -> Sequence[PostId]:
    """From `root` down to a descendant, both included. None if it is not below `root`."""
    above = _find_ancestors(last, most)
    return [*reversed(above[: above.index(root) + 1]), last] if root in above else []


def _iter_after(
    path: Sequence[PostId], replies: Mapping[PostId, Sequence[PostId]]
) -> Iterator[PostId]:
    """What a thread has after the last post of the path. None if a post of it is no answer to the
    one above it."""
    if any(below not in replies[above] for above, below in pairwise(path)):
        return
    yield from _iter_thread(path[-1], replies)
    for above, below in reversed(list(pairwise(path))):
        later = replies[above][replies[above].index(below) + 1 :]
        for reply in later:
            yield reply
            yield from _iter_thread(reply, replies)


def _find_ancestors(post_id: PostId, most: int) -> list[PostId]:
    """The ancestors, the nearest first, also deleted ones. One query for each run on one shard, and
    none when warm."""
    kept = answer(ask_ancestors(post_id))
    if kept is not None:
        return kept[:most]
    ancestors, is_whole = _read_ancestors(post_id, most)
    if is_whole:
        keep_ancestors(post_id, ancestors)
    return ancestors


def _read_ancestors(post_id: PostId, most: int) -> tuple[list[PostId], bool]:
    """The ancestors, and whether the last one is the root."""
    ancestors: list[PostId] = []
    last = post_id
    for _ in range(MOST_HOPS):
        alias, left = shard_of(last.author_id), most - len(ancestors)
        if left <= 0 or deadline.is_half_over():
            return ancestors, False
        rows = fetch_all(alias, ANCESTORS, (last.author_id, last.moment, left))
        ancestors += [PostId.at(*row) for row in rows]
        # The run ended at the root, or at a post of another shard.
        if not rows or shard_of(ancestors[-1].author_id) == alias:
            return ancestors, len(rows) < left
        last = ancestors[-1]
    return ancestors, False


def _find_descendants(root: PostId, bounds: Bounds, viewer_id: int | None) -> list[PostId]:
    """The descendants, each after the post it answers, also deleted ones."""
    replies: dict[PostId, list[PostId]] = {}
    level, left = [root], bounds.descendants
    for _ in range(bounds.depth):
        below = _load_replies(level, left, viewer_id)
        replies |= below
        level = [reply for children in below.values() for reply in children]
        left -= len(level)
        if not level or left <= 0 or deadline.is_half_over():
            break
    return list(_iter_thread(root, replies))


def _load_replies(
    level: Sequence[PostId], most: int, viewer_id: int | None
) -> dict[PostId, list[PostId]]:
    """Replies to each of these posts, in all at most `most`, and the viewer's pending ones."""
    below: dict[PostId, list[PostId]] = {parent: [] for parent in level}
    below |= load_replies(level, most)
    add_own_replies(viewer_id, set(level), below)
    return below


def _iter_thread(root: PostId, replies: Mapping[PostId, Sequence[PostId]]) -> Iterator[PostId]:
    """All replies below `root`, depth first, oldest first."""
    stack = list(reversed(replies.get(root, [])))
    while stack:
        reply = stack.pop()
        yield reply
        stack += reversed(replies.get(reply, []))


def _load_shown(
    ids: Sequence[PostId], viewer_id: int | None, most_bytes: int
) -> tuple[dict[PostId, bytes], int]:
    """Status entities of the first of the posts that the viewer may see, and how many were looked
    at: until `most_bytes` are full.

    The first MOST_AT_ONCE posts are always loaded, the others until half of the time is over.
    """
    shown: dict[PostId, bytes] = {}
    left = most_bytes
    for start in range(0, len(ids), MOST_AT_ONCE):
        if start and deadline.is_half_over():
            return shown, start
        posts = {i: i for i in ids[start : start + MOST_AT_ONCE]}
        for post_id, status in load_visible(posts, viewer_id, Surface.BROUGHT, now_ms()).items():
            left -= len(status)
            if left < 0:
                return shown, ids.index(post_id)
            shown[post_id] = status
    return shown, len(ids)
