"""What becomes of an upload: shape, turn, metadata, formats; and what is refused."""

import math
import time
from contextlib import nullcontext

import numpy as np
import pytest
from PIL import Image, ImageFile, features

from accounts.images.codec.encode import _DIGITS, JPEG, WEBP, blurhash_of, encode_upload
from accounts.images.errors import ImageRefused
from accounts.images.types import Purpose
from tests.pictures import (
    SECRET,
    animation,
    bomb,
    opened,
    picture,
    saved,
    transparent,
    with_metadata,
    worst,
)

MOST = 1_000_000
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
SCRIPT = b"<script>alert(document.cookie)</script>"
REFUSED = {
    "nothing": b"",
    "text": b"hello",
    "svg": SVG,
    "a page": b"<!doctype html><img src=x>",
    "a bomb": bomb(),
    "another format": saved(Image.new("RGB", (9, 9)), "BMP"),
    "a format that runs programs": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage",
    "only a header": picture("PNG")[:40],
    "truncated jpeg": picture("JPEG", (400, 400))[:-200],
    "truncated webp": picture("WEBP", (400, 400))[:-80],
    "truncated gif": animation()[:60],
}


def encode(content: bytes, purpose: Purpose = Purpose.POST):
    return encode_upload(content, purpose, MOST)


def colour(image: Image.Image, x: float, y: float) -> str:
    at = (int(x * (image.width - 1)), int(y * (image.height - 1)))
    red, _, blue = image.convert("RGB").getpixel(at)
    return "red" if red > blue else "blue"


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_image_is_refused_quickly(content: bytes):
    started = time.process_time()
    with pytest.raises(ImageRefused):
        encode(content)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
@pytest.mark.parametrize("mode", ["RGB", "L", "P", "1", "CMYK", "I;16", "RGBA", "LA"])
def test_every_kind_of_pixels_becomes_a_jpeg(kind: str, mode: str):
    source = Image.new("RGB", (60, 40), (255, 255, 255))
    source = source.convert("L").convert(mode) if mode == "I;16" else source.convert(mode)
    if mode == "I;16":
        source = source.point(lambda value: value * 256)
    try:
        content = saved(source, kind)
    except (OSError, ValueError):
        return  # no file of this kind has such pixels
    encoded = encode(content)
    image = opened(encoded.original)
    assert (image.format, image.size, encoded.facts.suffix) == ("JPEG", (60, 40), ".jpg")
    assert min(image.convert("RGB").getpixel((30, 20))) > 150


def test_what_is_transparent_becomes_a_webp_that_is():
    encoded = encode(transparent())
    image = opened(encoded.original)
    assert (image.format, image.mode, encoded.facts.suffix) == ("WEBP", "RGBA", ".webp")


def test_of_an_animation_the_first_frame_stays():
    assert colour(opened(encode(animation()).original), 0.5, 0.5) == "red"


def test_no_metadata_is_left():
    content = with_metadata(filler=60_000)
    assert SECRET.encode() in content
    encoded = encode(content)
    image = opened(encoded.original)
    assert SECRET.encode() not in encoded.original
    assert not image.getexif()
    assert not {"exif", "comment", "icc_profile", "xmp"} & image.info.keys()


@pytest.mark.parametrize("orientation", range(1, 10))
def test_an_image_is_turned_upright_before_its_metadata_goes(orientation: int):
    image = opened(encode(with_metadata(orientation)).original)
    assert image.size == ((40, 60) if 5 <= orientation <= 8 else (60, 40))
    # Red is on the left before: on the right, or above or below, after.
    red = {1: (0, 0.5), 2: (1, 0.5), 3: (1, 0.5), 4: (0, 0.5), 5: (0.5, 0), 6: (0.5, 0),
           7: (0.5, 1), 8: (0.5, 1)}.get(orientation, (0, 0.5))  # fmt: skip
    assert colour(image, *red) == "red"
    assert colour(image, *(1 - one for one in red)) == "blue"


def test_broken_metadata_spoils_no_image():
    content = with_metadata(6)
    at = content.index(b"Exif\0\0") + 6
    broken = content[:at] + b"\xff" * 30 + content[at + 30 :]
    assert opened(encode(broken).original).size == (60, 40)


def test_a_file_that_is_also_a_page_keeps_only_its_pixels():
    encoded = encode(picture("GIF") + SCRIPT)
    assert b"script" not in encoded.original


def test_large_images_are_shrunk_and_get_a_smaller_file():
    content = picture("JPEG", (1_200, 800))
    encoded = encode(content)
    assert encoded.facts.size == (1_200, 800)
    assert encoded.small is not None
    assert encoded.facts.small == opened(encoded.small).size == (587, 391)


@pytest.mark.parametrize("name", worst())
@pytest.mark.parametrize("purpose", Purpose)
def test_what_would_keep_a_decoder_busy_is_refused_before_a_pixel_is_read(
    name: str, purpose: Purpose, monkeypatch: pytest.MonkeyPatch
):
    content, why = worst()[name]
    monkeypatch.setattr(ImageFile.ImageFile, "load", None)
    with pytest.raises(ImageRefused, match=why):
        encode_upload(content, purpose, 33_177_600)


def test_more_pixels_than_allowed_are_refused_by_their_number():
    with pytest.raises(ImageRefused, match="1001x1000"):
        encode(picture("PNG", (1_001, 1_000)))


@pytest.mark.parametrize(
    ("mode", "most"), [("RGB", JPEG.most_side), ("RGBA", WEBP.most_side)], ids=["JPEG", "WebP"]
)
def test_a_side_is_not_longer_than_the_encoder_takes(mode: str, most: int):
    for side in (most, most + 1):
        for size in ((1, side), (side, 1)):
            content = saved(Image.new(mode, size), "PNG")
            with nullcontext() if side == most else pytest.raises(ImageRefused, match=str(most)):
                assert encode(content).facts.size == size


def test_an_image_of_one_pixel_by_three_million_is_refused():
    with pytest.raises(ImageRefused, match="1x3000000"):
        encode_upload(saved(Image.new("RGB", (1, 3_000_000)), "PNG"), Purpose.POST, 10**8)


def test_a_long_screenshot_is_shrunk_until_it_fits():
    assert encode_upload(picture("PNG", (400, 80_000)), Purpose.POST, 10**8).facts.size[1] < 65_500


@pytest.mark.parametrize(
    ("purpose", "size", "expected"),
    [
        (Purpose.AVATAR, (900, 600), (400, 400)),
        (Purpose.AVATAR, (60, 40), (40, 40)),
        (Purpose.AVATAR, (1, 1), (1, 1)),
        (Purpose.HEADER, (1_600, 600), (1_500, 500)),
        (Purpose.HEADER, (300, 600), (300, 100)),
    ],
)
def test_avatars_and_headers_are_cut_to_their_shape(purpose, size, expected):
    encoded = encode(picture("JPEG", size), purpose)
    assert encoded.facts.size == opened(encoded.original).size == expected
    assert encoded.small is None


def test_a_profile_of_colours_is_applied_and_not_kept():
    # Red and green swapped would be an error; sRGB itself changes nothing.
    from PIL import ImageCms  # noqa: PLC0415

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for one in (profile, b"broken", b"x" * 500_000):
        image = opened(encode(picture("PNG", icc_profile=one)).original)
        assert colour(image, 0, 0) == "red"
        assert "icc_profile" not in image.info


def test_the_blurhash_of_black_is_the_well_known_one():
    assert blurhash_of(np.zeros((32, 32, 3), np.uint8)) == "L00000" + "fQ" * 11


def test_the_blurhash_has_the_mean_and_the_strength_of_its_parts():
    """Against the sums of the algorithm, written out for one component."""
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:, :4] = (255, 0, 0)
    found = blurhash_of(pixels)
    across = sum(math.cos(math.pi * x / 8) for x in range(4)) * 8 * 2 / 64
    level = _DIGITS.index(found[1])
    assert level == min(82, int(across * 166 - 0.5))
    mean = sum(_DIGITS.index(one) * 83**place for place, one in enumerate(reversed(found[2:6])))
    assert mean == round((1.055 * 0.5 ** (1 / 2.4) - 0.055) * 255) << 16


def test_the_library_can_read_the_formats_that_are_promised():
    assert features.check("webp")
    assert features.check("jpg")
