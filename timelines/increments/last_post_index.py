"""The last-post index: one memory-mapped file per machine, account → when it last posted.

    header   4,096 bytes    words of 8 bytes, in the order of HeaderWord
    cells    capacity x 8   at account id, one number of two parts; 0: no post known

    bits 33-63   latest     the second of the account's latest post
    bit  32      has more   1 if the account has several posts in that second
    bit  31      unsure     1 if one of the posts since the history begins is a repost or addresses
                            an account: the homes of some followers leave such posts out
    bits 0-30    history    bit n: it posted in the period that is n before that of `latest`.
                            A period has PERIOD_S seconds, so the bits reach 66 minutes back
    example      posts in the seconds 100, 101 and 300: 300 << 33 | 0b101

Numbers have the machine's byte order. Loads and stores are of aligned words, so readers need no
lock. One process at a time writes (updater.py). Seconds are those of post ids; the spare bit is
free until 2074-01-19. The last cell stays 0: ids beyond the file are read from there.
"""

import mmap
import os
from collections.abc import Sequence
from enum import IntEnum, auto
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

MAGIC: Final = int.from_bytes(b"tideline", "big")
LAYOUT: Final = 5
HEADER_BYTES: Final = 4_096
CELL_BYTES: Final = 8
# Of a cell. `latest` with its spare bit is above LATEST_SHIFT.
LATEST_SHIFT: Final = 32
UNSURE_SHIFT: Final = 31
HISTORY_PERIODS: Final = 31
HISTORY: Final = (1 << HISTORY_PERIODS) - 1
PERIOD_S: Final = 128
CHUNK: Final = 1 << 18
# Maps all pages now. Otherwise each page costs its first reader a page fault, and one question
# touches hundreds of pages.
_POPULATE = getattr(mmap, "MAP_POPULATE", 0)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

Cells = npt.NDArray[np.uint64]


class HeaderWord(IntEnum):
    """Which word of the header holds what."""

    MAGIC = 0
    LAYOUT = auto()
    BOOT = auto()
    CAPACITY = auto()
    COMPLETE_FROM = auto()  # second; posts from before may be missing
    CAUGHT_UP = auto()  # second by the clock of Redis; everything in the stream by then is here
    APPLIED_MS = auto()  # Unix milliseconds by this machine's clock; 0: never
    POSITION_MS = auto()
    POSITION_SEQ = auto()
    POSITION_DIGEST = auto()
    NEWEST = auto()  # second; no cell has a later one


# A plain int for the hot path: reading a member of an enumeration is slow.
_CAPACITY = int(HeaderWord.CAPACITY)


class StreamPosition(NamedTuple):
    """An entry of the stream. The digest tells it apart from another entry with the same id."""

    ms: int
    seq: int
    digest: int


class LastPostIndex:
    """One mapping of the file. The file may have grown since: see `has_grown`."""

    def __init__(self, descriptor: int) -> None:
        stat = os.fstat(descriptor)
        self.inode = stat.st_ino
        mapped = mmap.mmap(descriptor, stat.st_size, mmap.MAP_SHARED | _POPULATE)
        self.header = memoryview(mapped)[:HEADER_BYTES].cast("Q")
        self._count = (stat.st_size - HEADER_BYTES) // CELL_BYTES
        self.cells: Cells = np.frombuffer(mapped, np.uint64, self._count, HEADER_BYTES)

    @property
    def is_usable(self) -> bool:
        """Whether it has this layout, is whole, and was written since the machine started.

        A file from before a crash of the machine may have reached the disk in parts.
        """
        is_known = tuple(self.header[:3]) == (MAGIC, LAYOUT, _boot())
        return is_known and CHUNK <= self.header[HeaderWord.CAPACITY] <= len(self.cells)

    def is_at(self, path: Path) -> bool:
        """Whether the path still names this file: the folder may have been cleared."""
        try:
            return path.stat().st_ino == self.inode
        except FileNotFoundError:
            return False

    @property
    def has_grown(self) -> bool:
        return self.header[_CAPACITY] > self._count

    def has_unsure(self, account_ids: Sequence[int]) -> bool:
        """Whether the homes of some followers may leave out a post of one of the accounts."""
        return bool((self.cells[account_ids] >> np.uint64(UNSURE_SHIFT) & np.uint64(1)).any())

    @property
    def position(self) -> StreamPosition | None:
        """How far the stream was applied; None if it never was."""
        if not self.header[HeaderWord.APPLIED_MS]:
            return None
        first, last = HeaderWord.POSITION_MS, HeaderWord.POSITION_DIGEST
        return StreamPosition(*self.header[first : last + 1])

    def begin(self, position: StreamPosition, complete_from: int) -> None:
        """Declares posts from before `complete_from` unknown, and continues at this position."""
        self.header[HeaderWord.COMPLETE_FROM] = complete_from
        self.move(position)

    def move(self, position: StreamPosition) -> None:
        words = self.header[HeaderWord.POSITION_MS : HeaderWord.POSITION_DIGEST + 1]
        words[0], words[1], words[2] = position


def open_index(path: Path) -> LastPostIndex | None:
    """The index at this path; None if there is no usable one. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        if os.fstat(descriptor).st_size < HEADER_BYTES + CELL_BYTES * CHUNK:
            return None
        index = LastPostIndex(descriptor)
        return index if index.is_usable else None
    finally:
        os.close(descriptor)


def create_index(path: Path) -> LastPostIndex:
    """A new, empty index that replaces any file at the path. Raises OSError.

    Safety: writes a new file. A process that has the old file mapped keeps it; truncating the old
    file would kill that process.
    """
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _write_zeros(descriptor, 0, HEADER_BYTES + CELL_BYTES * CHUNK)
        index = LastPostIndex(descriptor)
        index.header[HeaderWord.LAYOUT], index.header[HeaderWord.BOOT] = LAYOUT, _boot()
        index.header[HeaderWord.CAPACITY] = CHUNK
        index.header[HeaderWord.MAGIC] = MAGIC
        fresh.replace(path)
        return index
    finally:
        os.close(descriptor)


def grow_index(path: Path, index: LastPostIndex, account_id: int) -> LastPostIndex:
    """A mapping of the same file with a cell for this account. Raises OSError.

    Writes zeros instead of leaving a hole in the file. So a full disk is an error here; with a
    hole it would kill the process that touches the hole later.
    """
    have = index.header[HeaderWord.CAPACITY]
    need = (account_id + 1) // CHUNK * CHUNK + CHUNK
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        _write_zeros(descriptor, HEADER_BYTES + CELL_BYTES * have, HEADER_BYTES + CELL_BYTES * need)
        index.header[HeaderWord.CAPACITY] = need
        return LastPostIndex(descriptor)
    finally:
        os.close(descriptor)


def _write_zeros(descriptor: int, start: int, end: int) -> None:
    zeros = bytes(1 << 20)
    while start < end:
        start += os.pwrite(descriptor, zeros[: end - start], start)


def _boot() -> int:
    """Differs after each start of the machine; 0 where the system does not tell."""
    try:
        return xxh3_64_intdigest(_BOOT_ID.read_bytes())
    except OSError:
        return 0
