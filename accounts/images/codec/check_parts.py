"""Refuses files that would cost much more time than an honest image, before they are decoded.

A decoder reads a file part by part, and some parts are cheap to write and slow to read: each scan
of a progressive JPEG goes through the whole image again. Only the parts are counted here.
"""

import re
import struct

from accounts.images.errors import ImageRefused

# Above what encoders and cameras write: ten scans, a hundred segments, and chunks of 4 kB.
MOST_SCANS = 64
MOST_SEGMENTS = 1_000
MOST_CHUNKS = 20_000
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_SCAN = 0xDA
# Not escaped bytes, fill bytes and restarts: they are inside a scan.
_MARKER = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])")
_CHUNK_OVERHEAD = 12


def check_parts(content: bytes) -> None:
    """Raises: ImageRefused. Cost: milliseconds; it reads no pixel."""
    if content.startswith(_PNG):
        _check_chunks(content)
    elif content.startswith(_JPEG):
        _check_segments(content)


def _check_chunks(content: bytes) -> None:
    position = len(_PNG)
    for _ in range(MOST_CHUNKS):
        # What follows the last chunk is read by no decoder.
        if position + _CHUNK_OVERHEAD > len(content) or content.startswith(b"IEND", position + 4):
            return
        position += _CHUNK_OVERHEAD + struct.unpack_from(">I", content, position)[0]
    raise _too_many("chunks")


def _check_segments(content: bytes) -> None:
    """Bytes between two segments before the first scan count as segments: Pillow reads each."""
    position, scans, steps = len(_JPEG), 0, 0
    while match := _find_marker(content, position, is_inside=scans > 0):
        is_scan = match[1][0] == _SCAN
        scans += is_scan
        steps += 1 if scans else 1 + match.start() - position
        if scans > MOST_SCANS or steps > MOST_SEGMENTS:
            raise _too_many("segments")
        position = _end_of_segment(content, match.end())


def _find_marker(content: bytes, position: int, is_inside: bool) -> re.Match[bytes] | None:
    """The next marker; None: the file ends. `is_inside`: of the data of a scan."""
    if is_inside:
        return _MARKER.search(content, position)
    match = _MARKER.search(content, position, position + MOST_SEGMENTS)
    if match is None and len(content) > position + MOST_SEGMENTS:
        raise _too_many("segments")
    return match


def _end_of_segment(content: bytes, start: int) -> int:
    size = content[start : start + 2]
    return start + (int.from_bytes(size, "big") if len(size) == 2 else 0)


def _too_many(parts: str) -> ImageRefused:
    return ImageRefused(f"Validation failed: File has too many {parts}")
