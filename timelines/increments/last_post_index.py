"""The index: one memory-mapped file a machine, account → when it last posted.

    head     4,096 bytes    words of 8 bytes, in the order of Word
    cells    65,536 x 4     by reader id mod 65,536: how often relations of such a reader changed
    latest   capacity x 4   by account id: second of its latest post * 2, plus 1 where that second
                            has more than one post of the account; 0: none known

Numbers are in the machine's byte order, stores and loads of aligned words: readers need no lock.
One process at a time writes (updater.py). Seconds are those of post ids; the spare bit lasts until
2094-01-19. The last cell of `latest` stays 0: ids beyond the file are read from there.
"""

import mmap
import os
from enum import IntEnum, auto
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

MAGIC: Final = int.from_bytes(b"tideline", "big")
LAYOUT: Final = 1
HEADER_BYTES: Final = 4_096
RELATION_COUNTERS: Final = 1 << 16
FIXED_BYTES: Final = HEADER_BYTES + 4 * RELATION_COUNTERS
CHUNK: Final = 1 << 18
# Or each page costs its first reader 0.5 µs, and a question touches hundreds.
_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

Numbers = npt.NDArray[np.uint32]


class HeaderWord(IntEnum):
    """Places in the head. `EPOCH` counts how often the index began to follow the stream anew."""

    MAGIC = 0
    LAYOUT = auto()
    BOOT = auto()
    CAPACITY = auto()
    EPOCH = auto()
    COMPLETE_FROM = auto()  # second; what was posted before may be missing
    CAUGHT_UP = auto()  # second, by Redis' clock: everything in the stream by then is here
    APPLIED_MS = auto()  # Unix milliseconds, by this machine's clock; 0: never
    POSITION_MS = auto()
    POSITION_SEQ = auto()
    POSITION_DIGEST = auto()


# For every question: members of an enumeration cost 0.1 µs each.
_CAPACITY = int(HeaderWord.CAPACITY)


class StreamPosition(NamedTuple):
    """An entry of the stream. The digest tells apart another one that has the same id."""

    ms: int
    seq: int
    digest: int


class LastPostIndex:
    """One mapping of the file. It may have grown since: `has_grown`."""

    def __init__(self, descriptor: int) -> None:
        stat = os.fstat(descriptor)
        self.inode = stat.st_ino
        mapped = mmap.mmap(descriptor, stat.st_size, mmap.MAP_SHARED | _POPULATE)
        self.header = memoryview(mapped)[:HEADER_BYTES].cast("Q")
        self.cells: Numbers = np.frombuffer(mapped, np.uint32, RELATION_COUNTERS, HEADER_BYTES)
        self._count = (stat.st_size - FIXED_BYTES) // 4
        self.latest: Numbers = np.frombuffer(mapped, np.uint32, self._count, FIXED_BYTES)

    @property
    def is_usable(self) -> bool:
        """Of this layout, whole, and written since the machine started: what was on its way to
        the disk when a machine died came there in any order."""
        is_known = tuple(self.header[:3]) == (MAGIC, LAYOUT, _boot())
        return is_known and CHUNK <= self.header[HeaderWord.CAPACITY] <= len(self.latest)

    def is_at(self, path: Path) -> bool:
        """Whether it is this file that is at the path; somebody may have cleared the folder."""
        try:
            return path.stat().st_ino == self.inode
        except FileNotFoundError:
            return False

    @property
    def has_grown(self) -> bool:
        return self.header[_CAPACITY] > self._count

    @property
    def position(self) -> StreamPosition | None:
        """None: has never followed the stream."""
        if not self.header[HeaderWord.APPLIED_MS]:
            return None
        return StreamPosition(*self.header[HeaderWord.POSITION_MS : HeaderWord.POSITION_DIGEST + 1])

    def begin(self, position: StreamPosition, complete_from: int) -> None:
        """What was posted before `complete_from` is unknown from here on, until it is posted."""
        self.header[HeaderWord.COMPLETE_FROM] = complete_from
        self.header[HeaderWord.EPOCH] += 1
        self.move(position)

    def move(self, position: StreamPosition) -> None:
        words = self.header[HeaderWord.POSITION_MS : HeaderWord.POSITION_DIGEST + 1]
        words[0], words[1], words[2] = position


def open_index(path: Path) -> LastPostIndex | None:
    """The index at this path; None where there is none that can be used. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        if os.fstat(descriptor).st_size < FIXED_BYTES + 4 * CHUNK:
            return None
        index = LastPostIndex(descriptor)
        return index if index.is_usable else None
    finally:
        os.close(descriptor)


def create_index(path: Path) -> LastPostIndex:
    """A new one in the place of whatever is there. Never changes a file that others may have
    mapped: to cut it would kill them. Raises OSError."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _write_zeros(descriptor, 0, FIXED_BYTES + 4 * CHUNK)
        index = LastPostIndex(descriptor)
        index.header[HeaderWord.LAYOUT], index.header[HeaderWord.BOOT] = LAYOUT, _boot()
        index.header[HeaderWord.CAPACITY] = CHUNK
        index.header[HeaderWord.MAGIC] = MAGIC
        fresh.replace(path)
        return index
    finally:
        os.close(descriptor)


def grow_index(path: Path, index: LastPostIndex, account_id: int) -> LastPostIndex:
    """A mapping of the same file that has a cell for this account. Raises OSError.

    Zeros are written, not left as a hole: a full disk is an error here, and would be the death of
    whichever process touches the hole later.
    """
    have = index.header[HeaderWord.CAPACITY]
    need = (account_id + 1) // CHUNK * CHUNK + CHUNK
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        _write_zeros(descriptor, FIXED_BYTES + 4 * have, FIXED_BYTES + 4 * need)
        index.header[HeaderWord.CAPACITY] = need
        return LastPostIndex(descriptor)
    finally:
        os.close(descriptor)


def _write_zeros(descriptor: int, start: int, end: int) -> None:
    zeros = bytes(1 << 20)
    while start < end:
        start += os.pwrite(descriptor, zeros[: end - start], start)


def _boot() -> int:
    """Tells one run of the machine from another, where the system does."""
    try:
        return xxh3_64_intdigest(_BOOT_ID.read_bytes())
    except OSError:
        return 0
