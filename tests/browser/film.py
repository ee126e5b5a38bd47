"""Takes the film of the README: fifteen seconds on the pages of the demo community.

python -m tests.browser.film http://localhost:8000      writes docs/images/tour.webp

Each frame is a screenshot with a duration of its own, so a slow machine makes the same film.
"""

import io
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from PIL import Image

from tests.browser.chromium import REASON, find_chromium
from tests.browser.driving import Driven, driven
from tests.browser.tab import Look, Size, Tab

FILE = Path(__file__).parents[2] / "docs/images/tour.webp"
PASSWORD = "tideline-demo"
SIZE = Size(1120, 700)
SHOWN = 800, 500
TEXT, CHOSEN = "#compose-text", ".suggestions [aria-selected=true]"
LETTERS_MS, GLANCE_MS, LOOK_MS, READ_MS = 70, 500, 1_000, 1_700
QUALITY = 70


class Film:
    """`frames`: pictures with their durations in milliseconds."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.frames: list[tuple[Image.Image, int]] = []

    def show(self, duration_ms: int) -> None:
        shot = self.tab.picture()
        picture = Image.open(io.BytesIO(shot)).convert("RGB")
        self.frames.append((picture.resize(SHOWN, Image.Resampling.LANCZOS), duration_ms))

    def type(self, text: str) -> None:
        """Two letters a frame."""
        for begin in range(0, len(text), 2):
            self.tab.type_text(text[begin : begin + 2])
            self.show(2 * LETTERS_MS)

    def keep(self) -> None:
        pictures, durations = zip(*self.frames, strict=True)
        options = {"duration": list(durations), "loop": 0, "quality": QUALITY, "method": 6}
        pictures[0].save(FILE, save_all=True, append_images=pictures[1:], **options)
        seconds = sum(durations) / 1_000
        size = FILE.stat().st_size
        sys.stdout.write(f"{FILE}: {seconds:.0f} s, {len(pictures)} frames, {size:,} bytes\n")


def main(address: str) -> None:
    chromium = find_chromium()
    if chromium is None:
        sys.exit(REASON)
    with ExitStack() as stack:
        browser = stack.enter_context(driven(chromium))
        ann, bob = (_signed_in(browser, address, name, stack) for name in ("ann", "bob"))
        film = Film(ann)
        for scene in SCENES:
            scene(film, bob)
        film.keep()


def _signed_in(browser: Driven, address: str, name: str, stack: ExitStack) -> Tab:
    tab = Tab(browser, address, Look(SIZE))
    stack.callback(tab.close)
    tab.open("/auth/sign_in")
    tab.fill("Username or e-mail address", name)
    tab.type_into("[name=password]", PASSWORD)
    tab.press("Sign in")
    tab.open("/")
    return tab


def _write(film: Film, _: Tab) -> None:
    film.show(LOOK_MS)
    film.tab.click(TEXT)
    film.type("Low tide at the quay, @bo")
    film.tab.expect(film.tab.find(CHOSEN)).to_contain_text("@bob")
    film.show(GLANCE_MS)
    film.tab.type_key("Enter")
    film.type("#harbour")
    film.tab.type_key("Escape")
    film.tab.press("Post")
    film.tab.see("Posted.")
    film.show(READ_MS)


def _hear_of_an_answer(film: Film, bob: Tab) -> None:
    """It arrives without a reload."""
    bob.open("/")
    bob.fill("Your post", "On my way, with the nets. #harbour")
    bob.press("Post")
    film.tab.see("On my way, with the nets.")
    film.show(READ_MS)


def _favourite_and_open(film: Film, _: Tab) -> None:
    film.tab.click(".entry .act.favourite >> nth=0")
    film.show(LOOK_MS)
    film.tab.click(".entry:has-text('with the nets') .when >> nth=0")
    film.show(READ_MS)


def _look_around(film: Film, _: Tab) -> None:
    for path in ("/explore", "/catch_up", "/conversations"):
        film.tab.open(path)
        film.show(LOOK_MS)
    with film.tab.dark():
        film.tab.open("/")
        film.show(READ_MS)


SCENES: tuple[Callable[[Film, Tab], None], ...] = (
    _write,
    _hear_of_an_answer,
    _favourite_and_open,
    _look_around,
)

if __name__ == "__main__":
    main(*sys.argv[1:])
