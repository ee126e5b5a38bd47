"""Writes pixels as the files that readers get: JPEG, or WebP where something is transparent.

Every file is encoded here from pixels alone. So it has no metadata of the upload, and nothing that
was hidden behind the image.

The blurhash of an image: about 30 characters that clients show as a blur until it is loaded.

After woltapp/blurhash, Algorithm.md. The cosines are matrices, so a thumbnail takes microseconds.
"""

from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from accounts.images.codec.decode import decode_image
from accounts.images.errors import ImageRefused
from accounts.images.types import Area, EncodedImage, ImageFacts, Purpose

COLUMNS, ROWS = 4, 3
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
_MOST_LEVEL = 82
_LEVELS = 166
Floats = NDArray[np.float64]


def blurhash_of(pixels: NDArray[np.uint8]) -> str:
    """The blurhash of a thumbnail. `pixels`: rows of columns of red, green, blue in sRGB."""
    factors = _factors(_to_linear(pixels / 255.0))
    mean, others = factors[0], factors[1:]
    strongest = float(np.abs(others).max())
    level = max(0, min(_MOST_LEVEL, int(strongest * _LEVELS - 0.5)))
    size = _base83(COLUMNS - 1 + (ROWS - 1) * 9, 1)
    parts = [_base83(_detail(factor, (level + 1) / _LEVELS), 2) for factor in others]
    return size + _base83(level, 1) + _base83(_average(mean), 4) + "".join(parts)


def _factors(linear: Floats) -> Floats:
    """The cosine components, the mean first: one row of three colours for each."""
    height, width, _ = linear.shape
    down, across = _cosines(ROWS, height), _cosines(COLUMNS, width)
    factors = np.einsum("jy,ix,yxc->jic", down, across, linear) / (width * height)
    scaled = factors.reshape(ROWS * COLUMNS, 3)
    scaled[1:] *= 2
    return scaled


def _cosines(count: int, length: int) -> Floats:
    waves = np.arange(count)[:, None] * np.arange(length)[None, :]
    return np.cos(np.pi * waves / length)


def _to_linear(value: Floats) -> Floats:
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _to_srgb(value: Floats) -> NDArray[np.int64]:
    held = np.clip(value, 0, 1)
    curved = np.where(held <= 0.0031308, held * 12.92, 1.055 * held ** (1 / 2.4) - 0.055)
    return (curved * 255 + 0.5).astype(np.int64)


def _average(mean: Floats) -> int:
    red, green, blue = map(int, _to_srgb(mean))
    return (red << 16) + (green << 8) + blue


def _detail(factor: Floats, strongest: float) -> int:
    part = factor / strongest
    rooted = np.sign(part) * np.sqrt(np.abs(part))
    red, green, blue = map(int, np.clip(np.floor(rooted * 9 + 9.5), 0, 18))
    return red * 19 * 19 + green * 19 + blue


def _base83(value: int, length: int) -> str:
    return "".join(_DIGITS[value // 83**place % 83] for place in reversed(range(length)))


# Mastodon's sizes. A post's image keeps its shape within so many pixels; others are cut.
_POST_PIXELS, _SMALL_PIXELS = 3840 * 2160, 640 * 360
_CUT = {Purpose.AVATAR: Area(400, 400), Purpose.HEADER: Area(1500, 500)}
# A JPEG is decoded at a size that is at least this.
_LARGEST_SIDE = Area(3840, 3840)
_HASHED = 32
_QUALITY = 85
# Faster than the default, and the files are hardly larger.
_WEBP_EFFORT = 2
_FULL = 255


class FileFormat(NamedTuple):
    """A format of stored files. `name`: Pillow's. `most_side`: the longest side that its encoder
    takes, in pixels.
    """

    name: str
    suffix: str
    mime_type: str
    most_side: int


JPEG = FileFormat("JPEG", ".jpg", "image/jpeg", 65_500)
WEBP = FileFormat("WEBP", ".webp", "image/webp", 16_383)
MIME_TYPES_BY_SUFFIX = {form.suffix: form.mime_type for form in (JPEG, WEBP)}


def encode_upload(content: bytes, purpose: Purpose, most_pixels: int) -> EncodedImage:
    """The files of an upload. Raises: ImageRefused. Cost: tens of milliseconds, most of it without
    Python's lock; up to a second and 200 MB for the largest images."""
    cut = _CUT.get(purpose)
    pixels = _without_unused_alpha(decode_image(content, most_pixels, cut or _LARGEST_SIDE))
    original = _cut(pixels, cut) if cut else _shrink(pixels, _POST_PIXELS)
    small = None if cut else _find_small(original)
    chosen = WEBP if original.mode == "RGBA" else JPEG
    _check_sides(original, chosen)
    facts = ImageFacts(
        chosen.suffix, original.size, small.size if small else None, _hash(small or original)
    )
    return EncodedImage(facts, _write(original, chosen), _write(small, chosen) if small else None)


def _without_unused_alpha(pixels: Image.Image) -> Image.Image:
    """Screenshots have an alpha channel, but few are transparent anywhere."""
    is_opaque = pixels.mode == "RGBA" and pixels.getchannel("A").getextrema() == (_FULL, _FULL)
    return pixels.convert("RGB") if is_opaque else pixels


def _cut(pixels: Image.Image, area: Area) -> Image.Image:
    """The middle of an image in this shape. A small image is not enlarged."""
    ratio = min(1.0, pixels.width / area.width, pixels.height / area.height)
    size = (max(1, round(area.width * ratio)), max(1, round(area.height * ratio)))
    return ImageOps.fit(pixels, size)


def _shrink(pixels: Image.Image, most_pixels: int) -> Image.Image:
    """The same shape with at most so many pixels."""
    ratio = (most_pixels / Area(*pixels.size).pixels) ** 0.5
    if ratio >= 1:
        return pixels
    size = (max(1, int(pixels.width * ratio)), max(1, int(pixels.height * ratio)))
    return pixels.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def _check_sides(pixels: Image.Image, chosen: FileFormat) -> None:
    """Few pixels may be very long, or very high. The small image is never longer."""
    if max(pixels.size) > chosen.most_side:
        size = f"{pixels.width}x{pixels.height} images are not supported"
        raise ImageRefused(
            f"Validation failed: File {size} (a side has at most {chosen.most_side})"
        )


def _find_small(original: Image.Image) -> Image.Image | None:
    small = _shrink(original, _SMALL_PIXELS)
    return None if small is original else small


def _hash(pixels: Image.Image) -> str:
    tiny = pixels.convert("RGB").resize((_HASHED, _HASHED), Image.Resampling.BOX)
    return blurhash_of(np.asarray(tiny))


def _write(pixels: Image.Image, chosen: FileFormat) -> bytes:
    target = BytesIO()
    # Pillow's writers would copy comments and other metadata from here into the file.
    pixels.info.clear()
    if chosen is WEBP:
        pixels.save(target, "WEBP", quality=_QUALITY, method=_WEBP_EFFORT, exif=b"")
    else:
        pixels.save(target, "JPEG", quality=_QUALITY, progressive=True, exif=b"")
    return target.getvalue()
