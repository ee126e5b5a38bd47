"""Gives the best-connected people of the demo community a picture, and its visitors a header.

Draws a photo of a bay at an hour of the day. Sea, hills and sky: nothing to license.

Draws the pictures of people: a face before a wall. Circles and arcs: no person to resemble.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO
from math import sin
from random import Random

from PIL import Image, ImageDraw

from accounts.actions.update_profile import update_profile
from accounts.images.actions.store_image import store_image
from accounts.images.types import Purpose
from accounts.types import ProfileEdit, ProfilePicture
from infra.jobs.checkpoints import find_checkpoint, save_checkpoint
from infra.jobs.types import Batch
from operations.demo.rows import Ids
from operations.demo.scenes import ScenePhoto
from operations.demo.types import Community

_Colour = str
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


def _draw_body(draw: Draw, skin: _Colour, shirt: _Colour) -> None:
    _ellipse(draw, 200, 430, 150, 130, shirt)
    _ellipse(draw, 200, 305, 48, 36, skin)
    draw.rectangle(_scaled(164, 240, 236, 305), skin)
    _ellipse(draw, 200, 190, 84, 100, skin)
    for side in (-1, 1):
        _ellipse(draw, 200 + side * 84, 198, 14, 22, skin)


def _draw_face(draw: Draw, hair: _Colour, chance: Random) -> None:
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


def _nothing(draw: Draw, hair: _Colour) -> None:
    pass


def _long(draw: Draw, hair: _Colour) -> None:
    _ellipse(draw, 200, 190, 116, 122, hair)
    draw.rounded_rectangle(_scaled(84, 190, 316, 340), 50 * SCALE, hair)


def _bun(draw: Draw, hair: _Colour) -> None:
    _ellipse(draw, 200, 66, 42, 40, hair)


def _curls(draw: Draw, hair: _Colour) -> None:
    for x, y in ((110, 170), (118, 120), (160, 86), (210, 76), (258, 96), (286, 140), (292, 188)):
        _ellipse(draw, x, y, 42, 42, hair)


def _fringe(draw: Draw, hair: _Colour) -> None:
    """The upper part of the head, with a parting."""
    draw.chord(_scaled(112, 82, 288, 260), 180, 330, hair)
    draw.chord(_scaled(112, 82, 288, 250), 205, 360, hair)


def _short(draw: Draw, hair: _Colour) -> None:
    draw.chord(_scaled(112, 80, 288, 262), 198, 342, hair)


def _bearded(draw: Draw, hair: _Colour) -> None:
    _short(draw, hair)
    draw.chord(_scaled(116, 150, 284, 296), 20, 160, hair)


def _ellipse(draw: Draw, x: int, y: int, width: int, height: int, colour: _Colour) -> None:
    draw.ellipse(_scaled(x - width, y - height, x + width, y + height), colour)


def _arc(
    draw: Draw, around: Sequence[int], degrees: tuple[int, int], colour: _Colour, width: int
) -> None:
    x, y, half_width, half_height = around
    box = _scaled(x - half_width, y - half_height, x + half_width, y + half_height)
    draw.arc(box, *degrees, colour, width * SCALE)


def _scaled(*points: int) -> list[int]:
    return [point * SCALE for point in points]


# What is drawn behind the head, and what over it.
Part = Callable[[Draw, _Colour], None]
HAIRCUTS: Sequence[tuple[Part, Part]] = (
    (_long, _fringe),
    (_nothing, _short),
    (_bun, _fringe),
    (_nothing, _bearded),
    (_curls, _fringe),
    (_nothing, _fringe),
    (_long, _short),
)

Colour = tuple[int, int, int]
SIZE = WIDTH, HEIGHT = 720, 480
HORIZON = 280
# The top of the sky, its foot, the hills and the sun, by hour.
COLOURS: dict[int, tuple[Colour, Colour, Colour, Colour]] = {
    6: ((58, 52, 96), (242, 142, 102), (44, 42, 66), (255, 214, 150)),
    9: ((198, 204, 208), (226, 228, 228), (170, 180, 186), (240, 240, 236)),
    12: ((62, 138, 206), (190, 222, 240), (70, 112, 96), (255, 250, 220)),
    20: ((70, 60, 120), (250, 160, 80), (52, 40, 60), (255, 220, 120)),
    23: ((8, 14, 34), (30, 44, 78), (6, 10, 20), (230, 232, 240)),
}


def draw_photo(photo: ScenePhoto) -> bytes:
    """A PNG. The same photo is drawn the same way. Cost: 15 ms."""
    top, foot, hills, sun = COLOURS[photo.hour]
    chance = Random(photo.hour)
    image = Image.new("RGB", SIZE)
    draw = ImageDraw.Draw(image)
    for y in range(HORIZON):
        draw.line([(0, y), (WIDTH, y)], _between(top, foot, y / HORIZON))
    at, height = chance.randrange(160, 560), HORIZON - chance.randrange(30, 180)
    draw.ellipse([at - 34, height - 34, at + 34, height + 34], sun)
    for number in range(2):
        _draw_hills(draw, _between(hills, foot, 0.35 - 0.3 * number), chance, 70 - 25 * number)
    for y in range(HORIZON, HEIGHT):
        depth = (y - HORIZON) / (HEIGHT - HORIZON)
        draw.line([(0, y), (WIDTH, y)], _between(foot, top, depth))
    _draw_glitter(draw, sun, at, chance)
    target = BytesIO()
    image.save(target, "PNG", compress_level=1)
    return target.getvalue()


def _draw_hills(draw: ImageDraw.ImageDraw, colour: Colour, chance: Random, height: int) -> None:
    phase, pace = chance.random() * 6, 60 + chance.random() * 60
    line = [
        (x, HORIZON - height / 2 - height / 2 * sin(phase + x / pace) * sin(x / 210))
        for x in range(0, WIDTH + 10, 10)
    ]
    draw.polygon([(0, HORIZON), *line, (WIDTH, HORIZON)], colour)


def _draw_glitter(draw: ImageDraw.ImageDraw, sun: Colour, at: int, chance: Random) -> None:
    """The path of the light on the water."""
    for _ in range(160):
        y = chance.randrange(HORIZON, HEIGHT)
        spread = 20 + (y - HORIZON) // 2
        x = at + chance.randint(-spread, spread)
        draw.line([(x, y), (x + chance.randrange(6, 30), y)], sun, width=2)


def _between(first: Colour, second: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


JOB = "load_demo pictures"
PEOPLE = 48
# Of the accounts for visitors: the hour of the day that each header shows.
HEADER_HOURS = (20, 12, 6)


def give_pictures(community: Community, ids: Ids) -> Iterator[Batch]:
    """The caller holds `loading_lock`. Safety: idempotent; a run that was killed gives its last
    person the same picture again. Cost: 30 ms a person."""
    given: int = find_checkpoint(JOB, community.name) or 0
    for node in community.graph.nodes[given:PEOPLE]:
        update_profile(ids[node], _pictures(node, ids[node]))
        given += 1
        save_checkpoint(JOB, community.name, given)
        yield Batch(1, note=f"{given} of {PEOPLE} pictures")


def _pictures(node: int, account_id: int) -> ProfileEdit:
    avatar = _store(account_id, draw_portrait(node), Purpose.AVATAR)
    if node >= len(HEADER_HOURS):
        return ProfileEdit(avatar=avatar)
    photo = draw_photo(ScenePhoto(HEADER_HOURS[node], ""))
    return ProfileEdit(avatar=avatar, header=_store(account_id, photo, Purpose.HEADER))


def _store(account_id: int, content: bytes, purpose: Purpose) -> ProfilePicture:
    stored = store_image(account_id, content, purpose, datetime.now(UTC))
    return ProfilePicture(stored.id, stored.names.original)
