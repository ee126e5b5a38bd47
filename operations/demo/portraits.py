"""Draws the pictures of people: a face before a wall. Circles and arcs: no person to resemble."""

from collections.abc import Callable, Sequence
from io import BytesIO
from random import Random

from PIL import Image, ImageDraw

Colour = str
Draw = ImageDraw.ImageDraw
# The drawing is larger than its numbers, and made smaller at the end: then edges are smooth.
DRAWN, SCALE = 400, 2
# The picture, and the part of the drawing that it shows.
SIDE, SHOWN = 240, (50 * SCALE, 15 * SCALE, 350 * SCALE, 315 * SCALE)
WALLS = ["#f4c7a1", "#a9d6e5", "#b7e4c7", "#f6bd60", "#cdb4db", "#ffafcc", "#90be6d", "#e9c46a"]
SKINS = ["#f6d5bd", "#eebd9a", "#d99b73", "#b07850", "#8a5a3b", "#6b4329"]
HAIRS = ["#2b2118", "#4a3222", "#7b4b2a", "#b5773b", "#d9b26a", "#8c8c8c", "#a83c32", "#1f2a44"]
SHIRTS = ["#264653", "#e76f51", "#2a9d8f", "#6d597a", "#355070", "#bc4749", "#f2f2f2", "#3d405b"]
EYES = "#20242a"


def draw_portrait(number: int) -> bytes:
    """A PNG of SIDE x SIDE pixels. The same number gives the same face. Cost: 10 ms."""
    chance = Random(number)
    image = Image.new("RGB", (DRAWN * SCALE, DRAWN * SCALE), chance.choice(WALLS))
    draw = ImageDraw.Draw(image)
    skin, hair, shirt = (chance.choice(colours) for colours in (SKINS, HAIRS, SHIRTS))
    behind, before = HAIRCUTS[number % len(HAIRCUTS)]
    behind(draw, hair)
    _draw_body(draw, skin, shirt)
    before(draw, hair)
    _draw_face(draw, hair, chance)
    target = BytesIO()
    small = image.resize((SIDE, SIDE), Image.Resampling.BOX, box=SHOWN)
    small.save(target, "PNG", compress_level=1)
    return target.getvalue()


def _draw_body(draw: Draw, skin: Colour, shirt: Colour) -> None:
    _ellipse(draw, 200, 430, 150, 130, shirt)
    _ellipse(draw, 200, 305, 48, 36, skin)
    draw.rectangle(_scaled(164, 240, 236, 305), skin)
    _ellipse(draw, 200, 190, 84, 100, skin)
    for side in (-1, 1):
        _ellipse(draw, 200 + side * 84, 198, 14, 22, skin)


def _draw_face(draw: Draw, hair: Colour, chance: Random) -> None:
    for side in (-1, 1):
        _ellipse(draw, 200 + side * 34, 194, 8, 10, EYES)
        _arc(draw, (200 + side * 34, 178, 18, 10), (200, 340), hair, 5)
    _arc(draw, (200, 216, 34, 30), (25, 155), "#7a2e2a", 6)
    if chance.random() < 0.35:
        _draw_glasses(draw)


def _draw_glasses(draw: Draw) -> None:
    for side in (-1, 1):
        _arc(draw, (200 + side * 34, 195, 27, 25), (0, 360), EYES, 4)
    draw.line(_scaled(193, 195, 207, 195), EYES, 4 * SCALE)


def _nothing(draw: Draw, hair: Colour) -> None:
    pass


def _long(draw: Draw, hair: Colour) -> None:
    _ellipse(draw, 200, 190, 116, 122, hair)
    draw.rounded_rectangle(_scaled(84, 190, 316, 340), 50 * SCALE, hair)


def _bun(draw: Draw, hair: Colour) -> None:
    _ellipse(draw, 200, 66, 42, 40, hair)


def _curls(draw: Draw, hair: Colour) -> None:
    for x, y in ((110, 170), (118, 120), (160, 86), (210, 76), (258, 96), (286, 140), (292, 188)):
        _ellipse(draw, x, y, 42, 42, hair)


def _fringe(draw: Draw, hair: Colour) -> None:
    """The upper part of the head, with a parting."""
    draw.chord(_scaled(112, 82, 288, 260), 180, 330, hair)
    draw.chord(_scaled(112, 82, 288, 250), 205, 360, hair)


def _short(draw: Draw, hair: Colour) -> None:
    draw.chord(_scaled(112, 80, 288, 262), 198, 342, hair)


def _bearded(draw: Draw, hair: Colour) -> None:
    _short(draw, hair)
    draw.chord(_scaled(116, 150, 284, 296), 20, 160, hair)


def _ellipse(draw: Draw, x: int, y: int, width: int, height: int, colour: Colour) -> None:
    draw.ellipse(_scaled(x - width, y - height, x + width, y + height), colour)


def _arc(
    draw: Draw, around: Sequence[int], degrees: tuple[int, int], colour: Colour, width: int
) -> None:
    x, y, half_width, half_height = around
    box = _scaled(x - half_width, y - half_height, x + half_width, y + half_height)
    draw.arc(box, *degrees, colour, width * SCALE)


def _scaled(*points: int) -> list[int]:
    return [point * SCALE for point in points]


# What is drawn behind the head, and what over it.
Part = Callable[[Draw, Colour], None]
HAIRCUTS: Sequence[tuple[Part, Part]] = (
    (_long, _fringe),
    (_nothing, _short),
    (_bun, _fringe),
    (_nothing, _bearded),
    (_curls, _fringe),
    (_nothing, _fringe),
    (_long, _short),
)
