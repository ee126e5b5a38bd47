"""The pages at the widths of phones, tablets and large screens: nothing to scroll sideways."""

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, ProfileField
from posts.actions.create_post import create_post
from posts.types import Draft
from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.feeds import enter, make_named
from tests.browser.tab import Size, Tab
from tests.callers import Caller
from tests.world import drain_all, publish

pytestmark = pytest.mark.core

WIDTHS = (360, 680, 1000, 1140, 1600)
WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
TEXTS = (
    f"{WORD} https://example.org/{'a-long-path/' * 20} #{'tag' * 30}",
    "صباح الخير من الميناء. البحر هادئ اليوم.",
    "👩‍👩‍👧‍👦" * 40,
)
PATHS = (
    "/",
    "/catch_up",
    "/@ben",
    "/@ann/following",
    "/notifications",
    "/search?q=ben",
    "/lists",
    "/scheduled",
    "/settings/filters/new",
)


@pytest.fixture
def post(ann: int) -> str:
    """One of several with texts that are hard to fit, by an account that ann follows."""
    ben = make_named("ben")
    names = ProfileEdit(
        display_name="Hieronymus Karl Friedrich", note=WORD, fields=(ProfileField("w" * 80, WORD),)
    )
    update_profile(ben, names)
    follow(ann, ben)
    for text in TEXTS:
        last = publish(ben, f"@ann {text}")
    create_post(ben, Draft(WORD, spoiler_text=WORD[:90]))
    later = {"status": WORD, "spoiler_text": WORD, "scheduled_at": "2999-01-01T12:00"}
    assert Caller(ann).post("/api/v1/statuses", later).status_code == 200
    drain_all()
    return last.public


def test_no_page_is_wider_than_the_window(ann: int, post: str, tab_of) -> None:
    wider = {}
    for width in WIDTHS:
        tab: Tab = tab_of(Size(width, 800))
        enter(tab, ann)
        for path in (*PATHS, f"/statuses/{post}"):
            tab.open(path)
            if (px := tab.overflow_px()) > 0:
                wider[path, width] = px
                tab.shoot(SHOTS / f"wide-{width}{path.replace('/', '-')}.png")
    assert wider == {}


def test_texts_have_the_direction_of_their_words(ann: int, post: str, tab_of) -> None:
    tab: Tab = tab_of()
    enter(tab, ann)
    update_profile(ann, ProfileEdit(display_name="سمير", note="صباح الخير"))
    publish(ann, "@ben https://a.example صباح الخير\n\nGood morning, صباح")
    directions = "one => getComputedStyle(one).direction"
    tab.open("/@ann")
    assert tab.run(f"[...document.querySelectorAll('.entry .content p')].map({directions})") == [
        "rtl",
        "ltr",
    ]
    for selector in (".profile h1 bdi", ".profile .note p", ".entry .who bdi"):
        assert tab.run(f"({directions})(document.querySelector('{selector}'))") == "rtl"
    tab.open("/compose")
    tab.fill("Your post", "صباح")
    assert tab.run(f"({directions})(document.querySelector('[name=status]'))") == "rtl"
