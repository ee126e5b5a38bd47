"""The blur of a photo is a small picture with the colours of its blurhash."""

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from accounts.images.codec.blurhash import blurhash_of
from pages.blurs import HEIGHT, WIDTH, blur

TOP, FOOT = (200, 40, 40), (20, 60, 180)


def pixels_of(address: str) -> Image.Image:
    kind, _, data = address.partition(",")
    assert kind == "data:image/png;base64"
    return Image.open(BytesIO(base64.b64decode(data)))


def test_a_blur_has_the_colours_of_the_photo_at_their_places() -> None:
    photo = np.zeros((32, 32, 3), np.uint8)
    photo[:16], photo[16:] = TOP, FOOT
    shown = pixels_of(blur(blurhash_of(photo)))
    assert shown.size == (WIDTH, HEIGHT)
    for y, colour in ((0, TOP), (HEIGHT - 1, FOOT)):
        red, green, blue = shown.getpixel((WIDTH // 2, y))  # type: ignore[misc]
        assert (red > blue) is (colour == TOP), (y, red, green, blue)


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (12, 200, 99)])
def test_a_plain_photo_has_a_plain_blur(colour: tuple[int, int, int]) -> None:
    photo = np.full((32, 32, 3), colour, np.uint8)
    shown = np.asarray(pixels_of(blur(blurhash_of(photo)))).astype(int)
    assert abs(shown - np.array(colour)).max() <= 24


def test_an_address_is_short() -> None:
    assert len(blur("LEHV6nWB2yk8pyo0adR*.7kCMdnj")) < 300
