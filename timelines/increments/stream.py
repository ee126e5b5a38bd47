"""The stream that feeds the indexes of all machines, one Redis stream, cut by length.

    timelines.increments:v1:{0}   p → posts, PACKED_BYTES each (posts/ids.py): they were published
                                  r → readers, 4 bytes each: their relations changed
                                  m → random bytes: a machine begins to follow here

Whoever follows it remembers the last entry seen. If that is not there any more, something was cut,
flushed or turned back: what came since is unknown, and one begins anew.
"""

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from infra.caching.client import Command, load_script, redis
from infra.caching.keys import key
from posts.ids import EPOCH, PostId
from timelines.increments.last_post_index import StreamPosition

STREAM = key("timelines.increments:v1", 0)
POSTS, READERS, MARK = b"p", b"r", b"m"
# 10 bytes a post, a few hundred posts an entry under load: minutes of 10,000 posts/s, 50 MB.
MOST_ENTRIES = 20_000
A_READ = 500
_NEWS = load_script(Path(__file__).with_name("lua") / "news.lua")
_POST = np.dtype([("second", ">u4"), ("author", ">u4"), ("sequence", ">u2")])
_READER = np.dtype(">u4")

Integers = npt.NDArray[np.int64]


class PostColumns(NamedTuple):
    """Posts as columns. `arrived`: the second, since the product's epoch, of their entry."""

    authors: Integers
    seconds: Integers
    sequences: Integers
    arrived: Integers


class StreamEntries(NamedTuple):
    """What came after a position. `now`: the second up to which that is all, None: there is more.

    `readers`: whose relations changed.
    """

    position: StreamPosition
    posted: PostColumns
    readers: Integers
    now: int | None


def posts_command(posts: Iterable[PostId]) -> Command:
    """Tells all machines of published posts."""
    return _add(POSTS, b"".join([post.packed for post in posts]))


def readers_command(reader_ids: Iterable[int]) -> Command:
    """Tells all machines that these readers' relations are no longer what they were."""
    return _add(READERS, np.fromiter(reader_ids, _READER).tobytes())


def join_stream() -> StreamPosition:
    """A position at the end of the stream, whatever was before. Raises RedisError."""
    mark = secrets.token_bytes(8)
    return _position((redis().call(*_add(MARK, mark)), [MARK, mark]))


def read_stream(since: StreamPosition) -> StreamEntries | None:
    """At most A_READ entries; None: what came since is unknown. Raises RedisError. One trip."""
    script = _NEWS.on([STREAM], f"{since.ms}-{since.seq}", A_READ + 1)
    (unix_s, _), entries = redis().call(*script)
    if not entries or _position(entries[0]) != since:
        return None
    fresh = entries[1:]
    now = int(unix_s) - EPOCH if len(fresh) < A_READ else None
    return StreamEntries(_position(entries[-1]), _posted(fresh), _readers(fresh), now)


def _add(field: bytes, value: bytes) -> Command:
    return ("XADD", STREAM, "MAXLEN", "~", MOST_ENTRIES, "*", field, value)


def _position(entry: Any) -> StreamPosition:
    """Of one entry of a reply: [id, [field, value]]."""
    ms, _, seq = entry[0].partition(b"-")
    return StreamPosition(int(ms), int(seq), xxh3_64_intdigest(b"".join(entry[1])))


def _posted(entries: Sequence[Any]) -> PostColumns:
    told = [(int(i.partition(b"-")[0]), f[1]) for i, f in entries if f[0] == POSTS]
    posts = np.frombuffer(b"".join([packed for _, packed in told]), _POST)
    arrived = [ms // 1000 - EPOCH for ms, _ in told]
    counts = [len(packed) // _POST.itemsize for _, packed in told]
    authors, seconds, sequences = (
        posts[name].astype(np.int64) for name in ("author", "second", "sequence")
    )
    return PostColumns(authors, seconds, sequences, np.repeat(np.array(arrived, np.int64), counts))


def _readers(entries: Sequence[Any]) -> Integers:
    packed = b"".join([f[1] for _, f in entries if f[0] == READERS])
    return np.frombuffer(packed, _READER).astype(np.int64)
