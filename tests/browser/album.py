"""Takes the pictures of people's pages for the documents, on a fresh demo community.

python -m tests.browser.album http://localhost:8000      writes docs/images/page-*.png
"""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.request import urlopen

from PIL import Image

from tests.browser.bringing import describe
from tests.browser.chromium import REASON, find_chromium
from tests.browser.driving import Driven, driven
from tests.browser.film import CHOSEN, PASSWORD, TEXT
from tests.browser.tab import Look, Size, Tab

FOLDER = Path(__file__).parents[2] / "docs/images"
WIDE, TABLET, PHONE = Size(1280, 800), Size(820, 1000), Size(390, 780)
COLOURS = 256
# How many posts the reader of the kept position has not read.
UNREAD = 19
ENTRIES = "[...document.querySelectorAll('.entry')].map((one) => one.dataset.id)"
PHOTOS = ".images a[data-full]"
IS_LOADED = "[...document.images].every((one) => one.complete || one.loading === 'lazy')"
DESCRIPTION = "Low hills across the water, and the sun just above them"


class Shot(NamedTuple):
    """`show` leads a tab, in which ann is signed in, to what the picture shows."""

    name: str
    size: Size
    show: Callable[[Tab], object]
    scheme: Literal["light", "dark"] = "light"


class Album:
    def __init__(self, browser: Driven, address: str) -> None:
        self._browser, self._address = browser, address

    @contextmanager
    def of_ann(self, look: Look) -> Iterator[Tab]:
        tab = Tab(self._browser, self._address, look)
        tab.open("/auth/sign_in")
        tab.fill("Username or e-mail address", "ann")
        tab.type_into("[name=password]", PASSWORD)
        tab.press("Sign in")
        tab.at("/")
        yield tab
        tab.close()

    def take(self, shot: Shot) -> None:
        with self.of_ann(Look(shot.size, shot.scheme, is_still=True)) as tab:
            shot.show(tab)
            tab.wait(IS_LOADED)
            picture = Image.open(io.BytesIO(tab.picture()))
        file = FOLDER / f"{shot.name}.png"
        picture.convert("RGB").quantize(COLOURS).save(file, optimize=True)
        sys.stdout.write(f"{file}: {file.stat().st_size:,} bytes\n")


def main(address: str) -> None:
    chromium = find_chromium()
    if chromium is None:
        sys.exit(REASON)
    with driven(chromium) as browser:
        album = Album(browser, address)
        for shot in SHOTS:
            album.take(shot)
        with album.of_ann(Look(PHONE, has_scripts=False)) as tab:
            _read_all_but(tab, UNREAD)
        for shot in BEHIND:
            album.take(shot)


def _page(path: str) -> Callable[[Tab], None]:
    return lambda tab: tab.open(path)


def _open_post(tab: Tab) -> None:
    tab.open("/@ann")
    tab.click(".entry:has(.images) .when >> nth=0")
    tab.expect(tab.find(".chosen")).to_be_visible()


def _view_photo(tab: Tab) -> None:
    tab.open("/@ann")
    tab.click(f"{PHOTOS} >> nth=0")
    tab.expect(tab.find("dialog.viewer")).to_be_visible()


def _type_a_name(tab: Tab) -> None:
    tab.click(TEXT)
    tab.type_text("Low tide at the quay, @bo")
    tab.expect(tab.find(CHOSEN)).to_contain_text("@bob")


def _describe_photos(tab: Tab) -> None:
    addresses = [
        tab.run(f"document.querySelectorAll('{PHOTOS}')[{n}].dataset.full") for n in (0, 1)
    ]
    tab.fill("Your post", "Two evenings, one bay.")
    for number, address in enumerate(addresses, 1):
        with urlopen(address) as answer:
            tab.choose_image(".tool.file", f"{number}.png", answer.read())
        describe(tab, number, DESCRIPTION)


def _keep_a_draft(tab: Tab) -> None:
    tab.open("/compose")
    tab.fill("Your post", "What I wanted to say about the lighthouse")
    tab.wait("JSON.stringify(localStorage).includes('lighthouse')")
    tab.open("/compose")
    tab.see("Your draft is back.")


def _open_conversation(tab: Tab) -> None:
    tab.open("/conversations")
    tab.click(".talk .open >> nth=0")
    tab.expect(tab.find(".bubble").first).to_be_visible()


def _make_lists(tab: Tab) -> None:
    for title in ("Harbour", "Cooks", "Old friends"):
        tab.open("/lists")
        tab.fill("A new list", title)
        tab.press("Create")
    tab.open("/lists")


def _schedule(tab: Tab) -> None:
    tab.open("/compose")
    tab.fill("Your post", "The night ferry sails again from today.")
    tab.click(".tool[title='Publish later']")
    tab.fill("Publish at", f"{date.today() + timedelta(days=2)}T18:30")
    tab.press("Schedule")
    tab.open("/scheduled")


def _read_all_but(tab: Tab, unread: int) -> None:
    """Without scripts a button says where the reader stopped: at the first post of a page."""
    tab.open("/?newest=1")
    ids = tab.run(ENTRIES)
    tab.open(f"/?max_id={ids[unread - 1]}")
    tab.press("I have read up to here")


SHOTS = (
    Shot("page-home-1280", WIDE, _page("/")),
    Shot("page-home-820", TABLET, _page("/")),
    Shot("page-home-dark-390", PHONE, _page("/"), "dark"),
    Shot("page-thread-1280", WIDE, _open_post),
    Shot("page-thread-390", PHONE, _open_post),
    Shot("page-viewer-1280", WIDE, _view_photo),
    Shot("page-completion-390", PHONE, _type_a_name),
    Shot("page-compose-390", PHONE, _describe_photos),
    Shot("page-draft-390", PHONE, _keep_a_draft),
    Shot("page-conversation-390", PHONE, _open_conversation),
    Shot("page-notifications-390", PHONE, _page("/notifications")),
    Shot("page-people-390", PHONE, _page("/people")),
    Shot("page-tag-390", PHONE, _page("/tags/walks")),
    Shot("page-lists-390", PHONE, _make_lists),
    Shot("page-scheduled-390", PHONE, _schedule),
    Shot("page-profile-390", PHONE, _page("/settings/profile")),
    Shot("page-appearance-390", PHONE, _page("/settings/appearance")),
    Shot("page-welcome-390", PHONE, _page("/welcome?step=people")),
)
# Of a reader who was away.
BEHIND = (
    Shot("page-catch-up-390", PHONE, _page("/catch_up")),
    Shot("page-kept-390", PHONE, _page("/")),
)

if __name__ == "__main__":
    main(*sys.argv[1:])
