"""Damages live timelines as a bug would, or a store that lost a write."""

from collections.abc import Iterable

from infra.caching.client import redis
from infra.caching.keys import key
from posts.ids import PostId
from timelines.stores.packed import FAMILY, HEAD, LOW_WATER_MARK
from timelines.types import ENTRY_BYTES, Entry


def lose(reader_id: int, posts: Iterable[PostId]) -> None:
    """The posts' entries were never pushed to this reader."""
    lose_entries(reader_id, map(Entry.of_post, posts))


def lose_entries(reader_id: int, lost: Iterable[Entry]) -> None:
    gone = {entry.packed for entry in lost}
    head, entries = _read(reader_id)
    assert gone <= set(entries)
    _write(reader_id, head, [entry for entry in entries if entry not in gone])


def promise_all(reader_id: int) -> None:
    """The timeline claims to be complete down to the first post."""
    move_mark(reader_id, 0)


def move_mark(reader_id: int, mark: int) -> None:
    """The timeline is complete from this second on; what is below is ignored."""
    head, entries = _read(reader_id)
    _write(reader_id, LOW_WATER_MARK.pack(mark) + head[LOW_WATER_MARK.size :], entries)


def add_below_the_mark(reader_id: int, post: PostId, mark: int) -> None:
    head, entries = _read(reader_id)
    _write(
        reader_id,
        LOW_WATER_MARK.pack(mark) + head[LOW_WATER_MARK.size :],
        [*entries, Entry.of_post(post).packed],
    )


def stored(reader_id: int) -> bytes | None:
    """The whole string, as Redis has it."""
    return redis().call("GET", _key(reader_id))


def _read(reader_id: int) -> tuple[bytes, list[bytes]]:
    data = stored(reader_id)
    assert data is not None
    body = data[HEAD.size :]
    return data[: HEAD.size], [body[n : n + ENTRY_BYTES] for n in range(0, len(body), ENTRY_BYTES)]


def _write(reader_id: int, head: bytes, entries: list[bytes]) -> None:
    redis().call("SET", _key(reader_id), head + b"".join(entries), "KEEPTTL")


def _key(reader_id: int) -> bytes:
    return key(FAMILY, reader_id)
