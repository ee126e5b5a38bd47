"""Small images for tests, made by Pillow: good ones, and hostile ones."""

import io
import struct
import zlib
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

RED, BLUE = (220, 20, 20), (20, 20, 220)
_GPS, _LATITUDE, _MAKE, _ORIENTATION = 0x8825, 2, 0x010F, 0x0112
SECRET = "Camera of Ann"


def picture(
    kind: str = "PNG", size: tuple[int, int] = (60, 40), mode: str = "RGB", **options: Any
) -> bytes:
    """An image whose left half is red and whose right half is blue."""
    image = Image.new(mode, size, BLUE)
    image.paste(RED, (0, 0, size[0] // 2, size[1]))
    return saved(image, kind, **options)


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def transparent(size: tuple[int, int] = (60, 40)) -> bytes:
    return saved(Image.new("RGBA", size, (255, 0, 0, 100)), "PNG")


def with_metadata(orientation: int = 1, filler: int = 0) -> bytes:
    """A JPEG with the place where it was taken, a comment, and a name in its metadata."""
    exif = Image.Exif()
    exif[_ORIENTATION] = orientation
    exif[_MAKE] = SECRET + "x" * filler
    exif.get_ifd(_GPS)[_LATITUDE] = (48.0, 8.0, 9.0)
    return picture("JPEG", exif=exif, comment=SECRET.encode())


def bomb(side: int = 30_000) -> bytes:
    """A PNG of a few bytes that says it has very many pixels."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 10_000)), (b"IEND", b""))
    return _png_of(*chunks)


def animation() -> bytes:
    """A GIF: first a red frame, then a blue one."""
    frames = [Image.new("RGB", (60, 40), colour) for colour in (RED, BLUE)]
    return saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0)


def upload(content: bytes, name: str = "a.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "image/png")


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def _png_of(*chunks: tuple[bytes, bytes]) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def worst() -> dict[str, tuple[bytes, str]]:
    """Small files that would keep a decoder busy for long, and why they are refused."""
    jpeg = picture("JPEG", progressive=True)
    start, last = jpeg[:2], jpeg[jpeg.rindex(b"\xff\xda") : -2]
    header = struct.pack(">IIBBBBB", 1, 3_000_000, 1, 0, 0, 0, 0)
    rows = zlib.compress(b"\0\0" * 3_000_000, 9)
    thin = _png_of((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    small = picture()
    pixels = small.index(b"IDAT") - 4
    text = struct.pack(">I", 3) + b"tEXtk\0x" + struct.pack(">I", zlib.crc32(b"tEXtk\0x"))
    return {
        "a thin PNG": (thin, "a side has at most 100000"),
        "a PNG of many texts": (small[:pixels] + text * 30_000 + small[pixels:], "chunks"),
        "a JPEG of many scans": (jpeg[:-2] + last * 500 + jpeg[-2:], "segments"),
        "a JPEG of many comments": (start + b"\xff\xfe\0\2" * 30_000 + jpeg[2:], "segments"),
        "a JPEG of many fill bytes": (start + b"\xff" * 1_000_000 + jpeg[2:], "segments"),
    }
