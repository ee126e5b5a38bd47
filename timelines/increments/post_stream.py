"""The stream that feeds the last-post indexes of all machines: one Redis stream, cut by length.

    timelines.increments:v1:{0}   p → posts, PACKED_BYTES each (posts/ids.py), that were published
                                  u → a byte each: 1 if some followers' homes leave the post out.
                                      An entry of an earlier release has none: any of them may be
                                  m → random bytes: a machine joined here

A machine remembers the last entry that it applied. If the stream no longer has this entry, the
stream was cut, flushed or restored from an old snapshot. Then posts may be missing, and the machine
joins again at the end.
"""

import secrets
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from infra.caching.client import redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.scripts import load_script
from posts.ids import EPOCH, SEQUENCES, PostId
from timelines.increments.last_post_index import StreamPosition

FAMILY = "timelines.increments:v1"
STREAM = key(FAMILY, 0)
POSTS, UNSURE, JOINED = b"p", b"u", b"m"
# A post takes 10 bytes, and an entry has a few hundred posts under load. So this is enough for
# minutes at 10,000 posts/s, in 50 MB.
MOST_ENTRIES = 20_000
A_READ = 500
# A post reaches the stream within so many seconds of its own second, different clocks of machines
# included. A later post counts as posted so long before it arrived.
LAG_S = 5
# No clock is wrong by more, so a later post is no post.
MOST_AHEAD_S = 86_400
_READ_STREAM = load_script(Path(__file__).with_name("lua") / "read_stream.lua")
_POST = np.dtype([("second", ">u4"), ("author", ">u4"), ("sequence", ">u2")])

Integers = npt.NDArray[np.int64]


class PostColumns(NamedTuple):
    """Posts as columns. `arrived`: the second of their entry, since the product's epoch. `unsure`:
    1 for posts that some followers' homes leave out."""

    authors: Integers
    seconds: Integers
    sequences: Integers
    arrived: Integers
    unsure: Integers


class StreamEntries(NamedTuple):
    """The entries after a position, and the position of the last one.

    `now`: the second of the read, None if the stream has more entries.
    """

    position: StreamPosition
    posts: PostColumns
    now: int | None


def add_to_stream(posts: Sequence[PostId], unsure: Container[PostId] = ()) -> None:
    """Announces published posts to all machines. Raises: RedisError. One round trip.

    `unsure`: those that some followers' homes leave out: reposts, and posts that address accounts.
    """
    packed = b"".join([post.packed for post in posts])
    _add(POSTS, packed, UNSURE, bytes(post in unsure for post in posts))


def join_stream() -> StreamPosition:
    """Adds an entry at the end of the stream and returns its position. Raises RedisError."""
    random_bytes = secrets.token_bytes(8)
    return _position((_add(JOINED, random_bytes), [JOINED, random_bytes]))


def read_stream(since: StreamPosition) -> StreamEntries | None:
    """At most A_READ entries after a position.

    None: the stream no longer has the position, or an entry cannot be read, so posts may be
    missing.

    Raises: RedisError. Cost: one round trip.
    """
    script = _READ_STREAM.on([STREAM], f"{since.ms}-{since.seq}", A_READ + 1)
    (unix_s, _), entries = redis().call(*script)
    if not entries or _position(entries[0]) != since:
        return None
    fresh = entries[1:]
    now = int(unix_s) - EPOCH if len(fresh) < A_READ else None
    posts = decode(FAMILY, _unpack_posts, fresh)
    return None if posts is None else StreamEntries(_position(entries[-1]), posts, now)


def _add(*fields: bytes) -> bytes:
    """The id of the new entry. `fields`: a name, its value, and so on."""
    added = redis().call("XADD", STREAM, "MAXLEN", "~", MOST_ENTRIES, "*", *fields)
    return bytes(added)


def _position(entry: Any) -> StreamPosition:
    """The position of one entry of a reply: [id, [field, value]]."""
    ms, _, seq = entry[0].partition(b"-")
    return StreamPosition(int(ms), int(seq), xxh3_64_intdigest(b"".join(entry[1])))


def _unpack_posts(entries: Sequence[Any]) -> PostColumns:
    """Raises ValueError for what no machine announces: an author's cell would be far out, and the
    index has cells for all ids below it.
    """
    announced = [
        (
            int(i.partition(b"-")[0]),
            f[1],
            f[3] if len(f) > 3 else b"\1" * (len(f[1]) // _POST.itemsize),
        )
        for i, f in entries
        if f[0] == POSTS
    ]
    if any(len(packed) != len(marks) * _POST.itemsize for _, packed, marks in announced):
        raise ValueError("a cut entry")
    posts = np.frombuffer(b"".join([packed for _, packed, _ in announced]), _POST)
    counts = [len(marks) for *_, marks in announced]
    arrived = np.repeat([ms // 1000 - EPOCH for ms, *_ in announced], counts).astype(np.int64)
    unsure = np.frombuffer(b"".join([marks for *_, marks in announced]), np.uint8)
    authors, seconds, sequences = (
        posts[name].astype(np.int64) for name in ("author", "second", "sequence")
    )
    if (seconds > arrived + MOST_AHEAD_S).any() or (sequences >= SEQUENCES).any():
        raise ValueError("posts of the future")
    return PostColumns(authors, seconds, sequences, arrived, unsure.astype(np.int64))
