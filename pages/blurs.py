"""The blur that is shown until a photo is loaded: a picture of a few pixels, made of its blurhash.

It needs no script: the browser draws it as large as the photo. After woltapp/blurhash,
Algorithm.md.
"""

import base64
import struct
import zlib
from functools import lru_cache
from math import cos, pi

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
VALUES = {digit: value for value, digit in enumerate(DIGITS)}
WIDTH, HEIGHT = 6, 4
# Each takes 400 bytes. A process shows the same photos again and again.
_MOST_KEPT = 1_024
Colour = tuple[float, float, float]


@lru_cache(_MOST_KEPT)
def blur(blurhash: str) -> str:
    """A PNG of WIDTH by HEIGHT pixels, as an address of its own. About 230 characters; 0.4 ms."""
    rows = _pixels(blurhash)
    raw = b"".join(b"\0" + bytes(_to_srgb(part) for pixel in row for part in pixel) for row in rows)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _pixels(blurhash: str) -> list[list[Colour]]:
    """Rows of pixels in linear light: the sum of cosines that the hash has the factors of."""
    size = _number(blurhash[0])
    across, down = size % 9 + 1, size // 9 + 1
    factors = _factors(blurhash, across * down)
    return [
        [
            _sum(factors, across, _waves(x, WIDTH, across), _waves(y, HEIGHT, down))
            for x in range(WIDTH)
        ]
        for y in range(HEIGHT)
    ]


def _factors(blurhash: str, count: int) -> list[Colour]:
    """The average colour first, then what differs from it."""
    strongest = (_number(blurhash[1]) + 1) / 166
    average = _number(blurhash[2:6])
    factors = [tuple(map(_to_linear, (average >> 16, average >> 8 & 255, average & 255)))]
    for at in range(6, 6 + 2 * (count - 1), 2):
        value = _number(blurhash[at : at + 2])
        parts = (value // 361, value // 19 % 19, value % 19)
        factors.append(tuple(_signed_square((part - 9) / 9) * strongest for part in parts))
    return factors  # type: ignore[return-value]


def _waves(place: int, size: int, count: int) -> list[float]:
    return [cos(pi * place * n / size) for n in range(count)]


def _sum(factors: list[Colour], across: int, xs: list[float], ys: list[float]) -> Colour:
    weights = [x * y for y in ys for x in xs]
    return tuple(  # type: ignore[return-value]
        sum(weight * factor[part] for weight, factor in zip(weights, factors, strict=True))
        for part in range(3)
    )


def _number(text: str) -> int:
    value = 0
    for digit in text:
        value = value * len(DIGITS) + VALUES[digit]
    return value


def _signed_square(value: float) -> float:
    return value * abs(value)


def _to_linear(value: int) -> float:
    part = value / 255
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _to_srgb(value: float) -> int:
    part = max(0.0, min(1.0, value))
    return round(255 * (part * 12.92 if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
