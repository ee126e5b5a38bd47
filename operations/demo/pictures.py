"""Gives the best-connected people of the demo community a picture, and its visitors a header.

Draws a photo of a bay at an hour of the day. Sea, hills and sky: nothing to license.
"""

from collections.abc import Iterator
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
from operations.demo.portraits import draw_portrait
from operations.demo.rows import Ids
from operations.demo.scenes import ScenePhoto
from operations.demo.types import Community

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
