"""The cache of the replies to a post. A page of a thread asks for one level after the other.

    posts.replies:v1:{author}:moment   version:…:the ids, oldest first, 10 bytes each, or MANY

Deleted replies are among them, and those that not all may see: who reads a thread is shown what the
viewer may see now. Each response that is recorded on the post's shard deletes the entry, and the
load token with it, so that a load in progress is not written. So its version is always 0.
"""

from collections.abc import Iterable, Mapping, Sequence

from infra.caching.client import Command
from infra.caching.questions import answer
from infra.caching.round_trips import run_together
from infra.caching.values import Versioned
from posts.cache.by_post import PostValues, number_of, post_of
from posts.ids import PACKED_BYTES, PostId, unpack_ids
from posts.queries.responses import read_replies
from posts.types import Kind, ResponseRow

TTL_S = 86_400
# Of all posts that are loaded together: a thread has at most so many on a page.
MOST_KEPT = 4_096
# The post has more replies, or was loaded with one that has: they are read from the shard.
MANY = b"many"
_REPLIES = (Kind.REPLY, Kind.CLOSED_REPLY)


def _load(numbers: Sequence[int]) -> dict[int, Versioned]:
    """One query on each shard of the posts."""
    replies = read_replies(map(post_of, numbers), MOST_KEPT + 1)
    has_many = sum(map(len, replies.values())) > MOST_KEPT
    return {
        n: Versioned(0, MANY if has_many else _pack(replies.get(post_of(n), ()))) for n in numbers
    }


def _pack(ids: Iterable[PostId]) -> bytes:
    return b"".join(post_id.packed for post_id in ids)


def _is_entry(payload: bytes) -> bool:
    return payload == MANY or len(payload) % PACKED_BYTES == 0


post_replies = PostValues("posts.replies:v1", TTL_S, _load, _is_entry)


def load_replies(parents: Sequence[PostId], limit: int) -> dict[PostId, list[PostId]]:
    """As `read_replies`. Cost: one round trip and no SQL when warm; one query for each shard of
    posts with very many replies."""
    payloads = answer(post_replies.ask_uncopied(list(map(number_of, parents))))
    read = {post_of(number): payload for number, payload in payloads.items() if payload}
    many = [parent for parent, payload in read.items() if payload == MANY]
    replies = {i: unpack_ids(payload) for i, payload in read.items() if payload != MANY}
    if many:
        replies |= read_replies(many, limit)
    return replies if sum(map(len, replies.values())) <= limit else _cut(replies, limit)


def _cut(replies: Mapping[PostId, Sequence[PostId]], limit: int) -> dict[PostId, list[PostId]]:
    """The oldest of all replies."""
    oldest: dict[PostId, list[PostId]] = {}
    pairs = ((reply, parent) for parent, ids in replies.items() for reply in ids)
    for reply, parent in sorted(pairs)[:limit]:
        oldest.setdefault(parent, []).append(reply)
    return oldest


def find_answered_posts(responses: Iterable[ResponseRow]) -> set[PostId]:
    """The posts that those of these responses answer that are replies."""
    return {row.post_id for row in responses if row.kind in _REPLIES}


def end_replies_commands(posts: Iterable[PostId]) -> list[Command]:
    """Delete the entries of these posts. Send them after the rows of the replies are written."""
    return post_replies.drop_commands(list(map(number_of, posts)))


def end_replies(posts: Iterable[PostId]) -> None:
    """Deletes the entries of these posts. One round trip, none without posts."""
    run_together(end_replies_commands(posts))
