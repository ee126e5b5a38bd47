"""The blurhash of an image: about 30 characters that clients show as a blur until it is loaded.

After woltapp/blurhash, Algorithm.md. The cosines are matrices, so a thumbnail takes microseconds.
"""

import numpy as np
from numpy.typing import NDArray

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
