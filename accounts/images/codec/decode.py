"""Opens an upload as pixels: sRGB, upright, without metadata, and not larger than is needed.

An upload is hostile until it is decoded. Only four formats are tried, by their content; the name
and the type that the client sent do not matter. The header is read first, so an image with too many
pixels is refused before any memory is taken for them.
"""

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from PIL import Image, ImageCms, UnidentifiedImageError

from accounts.images.codec.check_parts import check_parts
from accounts.images.errors import ImageRefused
from accounts.images.types import Area

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
