"""Opens an upload as pixels: sRGB, upright, without metadata, and not larger than is needed.

An upload is hostile until it is decoded. Only four formats are tried, by their content; the name
and the type that the client sent do not matter. The header is read first, so an image with too many
pixels is refused before any memory is taken for them.

Refuses files that would cost much more time than an honest image, before they are decoded.

A decoder reads a file part by part, and some parts are cheap to write and slow to read: each scan
of a progressive JPEG goes through the whole image again. Only the parts are counted here.
"""

import re
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from PIL import Image, ImageCms, UnidentifiedImageError

from accounts.images.errors import ImageRefused
from accounts.images.types import Area

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


# In pixels. A long image becomes shorter, as long as JPEG can have it (65,500).
MOST_SIDE = 100_000
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
MIME_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
# A name for a file is not proof: these are what Pillow raises for broken content of all formats.
_BROKEN = (
    *(OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, AttributeError),
    *(OverflowError, ZeroDivisionError, MemoryError, RuntimeError, struct.error),
)
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# Profiles of cameras have a few kilobytes.
_LARGEST_PROFILE_BYTES = 1 << 20
_SIXTEEN_BITS = 256


def decode_image(content: bytes, most_pixels: int, wanted: Area) -> Image.Image:
    """The pixels, RGB or RGBA: the first frame of an animation.

    `wanted`: no caller needs more than that; a larger JPEG is decoded at a part of its size, which
    takes less time and memory. Raises: ImageRefused (422).
    """
    check_parts(content)
    with _refusing():
        opened = Image.open(BytesIO(content), formats=FORMATS)
        _check_size(Area(*opened.size), most_pixels)
        turn, profile = _find_turn(opened), opened.info.get("icc_profile")
        opened.draft("RGB", wanted)
        opened.load()
        pixels = _to_srgb(_to_rgb(opened), profile)
        return pixels.transpose(turn) if turn is not None else pixels


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # Pillow warns of odd metadata, which is dropped.
            warnings.simplefilter("ignore")
            yield
    except UnidentifiedImageError:
        raise ImageRefused(
            f"Validation failed: File must be one of {', '.join(MIME_TYPES)}"
        ) from None
    except Image.DecompressionBombError:
        raise ImageRefused("Validation failed: File has too many pixels") from None
    except _BROKEN as error:
        raise ImageRefused("Validation failed: File is broken and cannot be read") from error


def _check_size(area: Area, most_pixels: int) -> None:
    """Few pixels may be very long, or very high, and each row costs time."""
    size = f"{area.width}x{area.height} images are not supported"
    if area.pixels > most_pixels:
        raise ImageRefused(f"Validation failed: File {size} (maximum is {most_pixels} pixels)")
    if max(area) > MOST_SIDE:
        raise ImageRefused(f"Validation failed: File {size} (a side has at most {MOST_SIDE})")


def _find_turn(opened: Image.Image) -> Image.Transpose | None:
    """How to turn the pixels upright. None also for metadata that cannot be read."""
    try:
        return _TURNS.get(int(opened.getexif().get(_ORIENTATION, 1)))
    except _BROKEN:
        return None


def _to_rgb(opened: Image.Image) -> Image.Image:
    """The image in RGB, or in RGBA if it may be transparent."""
    if opened.mode.startswith("I") or opened.mode == "F":
        # Pillow would cut 16 bits off instead of scaling them.
        opened = opened.convert("F").point(lambda value: value / _SIXTEEN_BITS).convert("L")
    mode = "RGBA" if opened.has_transparency_data else "RGB"
    # Without a second copy of what may be the largest thing in this process.
    return opened if opened.mode == mode else opened.convert(mode)


def _to_srgb(pixels: Image.Image, profile: bytes | None) -> Image.Image:
    """The same colours without a profile. With one that cannot be used the pixels stay."""
    if not profile or len(profile) > _LARGEST_PROFILE_BYTES:
        return pixels
    try:
        own_profile = ImageCms.ImageCmsProfile(BytesIO(profile))
        turned = ImageCms.profileToProfile(
            pixels, own_profile, ImageCms.createProfile("sRGB"), outputMode=pixels.mode
        )
    except (*_BROKEN, ImageCms.PyCMSError):
        return pixels
    return turned or pixels
