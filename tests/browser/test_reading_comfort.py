"""Reading as one likes it: posts that open, keys, colours, sizes, the time of one's own place."""

import re
from contextlib import nullcontext

import pytest

from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.tab import Size, Tab
from tests.pictures import opened
from tests.world import drain_all, publish

TITLE = "document.querySelector('.when time').title"
FOCUSED = "document.activeElement.id"
# The pictures of people in the compact density.
COMPACT_PX = 36
BELL = ".side nav a[href='/notifications'] .icon"
BOX = "(one) => document.querySelector(one).getBoundingClientRect().toJSON()"
# A line of the navigation.
LINE_PX = 25.5


@pytest.fixture
def posts(world: None) -> list[str]:
    ann, ben = make_named("ann"), make_named("ben")
    follow(ann, ben)
    ids = [publish(ben, f"post number {n} by the sea").public for n in range(4)]
    drain_all()
    return [str(ann), *ids]


@pytest.fixture
def tab(posts: list[str], tab_of) -> Tab:
    tab: Tab = tab_of()
    enter(tab, int(posts[0]))
    tab.open("/")
    return tab


def test_a_press_on_a_post_opens_it_but_words_can_be_selected(tab: Tab, posts: list[str]) -> None:
    text = f"#post-{posts[-1]} .content p"
    tab.run(f"getSelection().selectAllChildren(document.querySelector('{text}'))")
    tab.run(f"document.querySelector('{text}').click()")
    tab.at("/")
    tab.run("getSelection().removeAllRanges()")
    tab.click(text)
    tab.at(f"/statuses/{posts[-1]}")


def test_keys_walk_the_posts(tab: Tab, posts: list[str]) -> None:
    tab.type_key("j")
    tab.wait(f"{FOCUSED} === 'post-{posts[4]}'")
    tab.type_key("j")
    tab.wait(f"{FOCUSED} === 'post-{posts[3]}'")
    tab.type_key("k")
    tab.wait(f"{FOCUSED} === 'post-{posts[4]}'")
    tab.type_key("f")
    tab.expect(tab.find(f"#post-{posts[4]} .favourite[aria-pressed=true]")).to_have_count(1)
    # The post was replaced. The next key goes on from it.
    tab.wait(f"{FOCUSED} === 'post-{posts[4]}'")
    tab.type_key("j")
    tab.wait(f"{FOCUSED} === 'post-{posts[3]}'")
    tab.type_key("?")
    tab.see("Next post")
    tab.expect(tab.find("dialog[open] button")).to_be_focused()
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "keys-1280.png")
    tab.type_key("Escape")
    tab.wait("!document.querySelector('dialog[open]')")
    tab.type_key("n")
    tab.wait(f"{FOCUSED} === 'compose-text'")
    tab.type_text("jk?")
    tab.expect(tab.find("#compose-text")).to_have_value("jk?")


def test_keys_work_in_each_language(posts: list[str], tab_of) -> None:
    tab: Tab = tab_of(locale="de-DE")
    enter(tab, int(posts[0]))
    tab.open("/")
    tab.type_key("j")
    tab.wait(f"{FOCUSED} === 'post-{posts[4]}'")
    tab.type_key("r")
    tab.expect(tab.find("#sheet-reply-text")).to_be_focused()


def test_appearance_is_chosen_for_a_browser(tab: Tab) -> None:
    tab.open("/settings/appearance")
    for choice in ("Dark", "Large", "Compact", "Turn off keyboard shortcuts"):
        tab.tick(choice)
    tab.choose("Time zone", "Pacific/Auckland")
    tab.press("Save")
    tab.see("Saved for this browser.")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "appearance-1280.png")
    tab.open("/")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(17, 17, 19)"
    assert tab.run("getComputedStyle(document.documentElement).fontSize") == "18px"
    assert tab.run("document.querySelector('.face img').offsetWidth") == COMPACT_PX
    assert "UTC" not in tab.run("document.querySelector('.when time').title")
    tab.type_key("j")
    assert tab.run(FOCUSED) == ""
    assert faults_of(tab) == []


def test_times_are_those_of_the_browser(posts: list[str], tab_of) -> None:
    tab: Tab = tab_of(zone="Asia/Tehran")
    enter(tab, int(posts[0]))
    tab.open("/")
    # The first page of a browser cannot know.
    assert tab.run(TITLE).endswith("UTC")
    tab.open("/")
    hour, minute = tab.run(TITLE).split(", ")[1].split(":")
    utc = tab.run("document.querySelector('.when time').dateTime")
    minutes = int(utc[11:13]) * 60 + int(utc[14:16]) + 3 * 60 + 30
    assert int(hour) * 60 + int(minute) == minutes % (24 * 60)
    tab.open("/settings/appearance")
    zones = tab.find("[name=zone] option")
    tab.expect(zones.first).to_have_text("Same as the browser (Asia/Tehran)")
    tab.choose("Time zone", "UTC")
    tab.press("Save")
    tab.see("Saved for this browser.")
    tab.open("/")
    assert tab.run(TITLE).endswith("UTC")


def test_without_scripts_times_are_in_utc_and_it_says_so(posts: list[str], tab_of) -> None:
    tab: Tab = tab_of(zone="Asia/Tehran", has_scripts=False)
    for _ in range(2):
        tab.open("/public")
    tab.expect(tab.find(".when time").first).to_have_attribute("title", re.compile("UTC$"))
    tab.open("/settings/appearance")
    tab.see("Then they write times in UTC.")


def test_all_timelines_are_a_press_away(tab: Tab) -> None:
    for name, path in (("Public", "/public"), ("Lists", "/lists"), ("Catch up", "/catch_up")):
        tab.click(f".tabs a:text-is('{name}')")
        tab.at(path)
    tab.click(".tabs a:text-is('Following')")
    tab.at("/")


@pytest.mark.parametrize("width", [700, 820, 1140])
def test_the_rail_has_names(posts: list[str], tab_of, width: int) -> None:
    tab: Tab = tab_of(Size(width, 800))
    enter(tab, int(posts[0]))
    tab.open("/")
    for name in ("Home", "Notifications", "Messages", "Settings"):
        word = f".side nav > a:has-text('{name}') > span"
        tab.hover(f".side nav > a:has-text('{name}')")
        tab.expect(tab.find(word).first).to_have_css("clip-path", "none")
    assert tab.overflow_px() <= 0


def test_a_dialog_darkens_the_page_up_to_its_edges(tab: Tab) -> None:
    for scheme in (nullcontext(), tab.dark()):
        with scheme:
            tab.type_key("?")
            tab.see("Next post")
            edge, near = (pixel_of(tab, 1280 - px, 790) for px in (2, 30))
            assert max(abs(a - b) for a, b in zip(edge, near, strict=True)) <= 2, (edge, near)
            tab.type_key("Escape")


def test_the_menu_of_a_post_stays_in_the_window(posts: list[str], tab_of) -> None:
    tab: Tab = tab_of(Size(1280, 520))
    enter(tab, int(posts[0]))
    tab.open("/")
    for post, is_at_end in ((posts[1], True), (posts[4], False)):
        menu = f"#post-{post} .acts > .menu"
        tab.run(f"document.querySelector('{menu}').scrollIntoView(!{str(is_at_end).lower()})")
        tab.click(f"{menu} > summary")
        box = tab.run(f"({BOX})(`{menu} > div`)")
        assert box["top"] >= 0 and box["bottom"] <= 520
        tab.click(f"{menu} > summary")


def pixel_of(tab: Tab, x: int, y: int) -> tuple[int, ...]:
    return opened(tab.picture()).convert("RGB").getpixel((x, y))  # type: ignore[return-value]


@pytest.mark.parametrize("font", ["", "monospace"])
@pytest.mark.parametrize("width", [390, 820, 1280])
def test_the_number_of_unread_ones_is_on_the_bell(
    posts: list[str], tab_of, width: int, font: str
) -> None:
    """Whichever font the machine has."""
    tab: Tab = tab_of(Size(width, 800), locale="de-DE")
    enter(tab, int(posts[0]))
    tab.open("/explore")
    tab.run(f"document.querySelector('#unread').style.fontFamily = '{font}'")
    for number in ("20+", "3"):
        tab.run(f"document.querySelector('#unread').textContent = '{number}'")
        bell, badge, word = (
            tab.run(f"({BOX})(`{selector}`)") for selector in (BELL, "#unread", f"{BELL} + span")
        )
        assert bell["left"] < badge["left"] < bell["right"] and badge["top"] < bell["top"] + 12
        # The word is in one line, and the number does not cover it. A rail has icons only.
        is_shown = word["width"] > 1
        assert is_shown is (width > 1140)
        assert not is_shown or word["height"] < 1.6 * LINE_PX
        assert not is_shown or badge["right"] <= word["left"] + 1
    tab.shoot(SHOTS / f"unread-{width}.png")
