"""The form counts the characters of a post as the server does.

Images that are chosen for a post, dropped on its form, or pasted into it.
"""

import pytest

from accounts.texts.links import count_characters
from tests.browser.bringing import bring
from tests.browser.feeds import enter, make_named
from tests.browser.neighbours import make_neighbours
from tests.browser.tab import Tab
from tests.pictures import picture

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
TEXTS = [
    "plain text",
    f"{FAMILY} 🇩🇪🇫🇷 e\u0301 가 หนึ่ง தமிழ் 字",
    "two\n\nlines\n ",
    "see https://a.example/x_(y)?q=@bob#part. and (http://b.example:80/c), https://d.example!",
    "「https://a.b/x」“https://a.b/y…”«https://a.b/z» https://a.b/(y https://a.b。 https://a.b/x。",
    "https://bank.example@evil.example/ https://a:b@c.d/ xhttps://a.b/ @https://a.b/ https://",
    "@bob@far.example, @bob@ (@carol@x.example:80) x@y.example @हिन्दी हिन्दी@bob@far.example",
    "https://a.b/@bob@far.example @bob@far.example",
    "https://a.b/" + "x" * 2_037 + " https://a.b/" + "y" * 2_036,
    "@bob@" + "x" * 255 + " @bob@" + "x" * 256,
    "https://" + "x" * 253 + ".b/ HTTPS://A.B/é HTTP://日本.example/x",
]


@pytest.fixture
def anns_tab(world: None, tab_of, delivery: None) -> Tab:
    anns_tab: Tab = tab_of()
    enter(anns_tab, int(make_neighbours()["ann"]))
    return anns_tab


def test_the_form_counts_as_the_server_does(anns_tab: Tab) -> None:
    anns_tab.open("/compose")
    left = "document.querySelector('.left b').textContent"
    for text in TEXTS:
        anns_tab.fill("Your post", text)
        anns_tab.wait(f"{left} === '{500 - count_characters(text.strip())}'")


def test_a_field_has_as_many_characters_as_people_see(anns_tab: Tab) -> None:
    anns_tab.open("/settings/profile")
    is_valid = "document.querySelector('[name=display_name]').checkValidity()"
    for count, is_right in ((100, True), (101, False), (1, True)):
        anns_tab.type_into("[name=display_name]", FAMILY * count)
        # The script comes after the page.
        anns_tab.wait(f"{is_valid} === {str(is_right).lower()}")


def test_images_are_attached_by_choosing_dropping_and_pasting(world: None, tab: Tab) -> None:
    enter(tab, make_named("ann"))
    tab.open("/")
    # The form is still small. What is pressed in it must not move.
    tab.choose_image("#compose .tool.file", "zero.png", picture())
    tab.expect(tab.find(".attached")).to_have_count(1)
    tab.fill("Your post", "the boats")
    assert bring(tab, "dragover", "one.png")
    # The second comes while the first is on its way.
    assert bring(tab, "drop", "one.png")
    assert bring(tab, "paste", "two.png")
    tab.expect(tab.find(".attached")).to_have_count(3)
    tab.press("Post")
    tab.expect(tab.find(".entry .images img:not(.blur)")).to_have_count(3)
    tab.see("the boats")


def test_what_is_no_image_is_not_attached(world: None, tab: Tab) -> None:
    enter(tab, make_named("ann"))
    tab.open("/")
    # A browser that opens the file loses what was typed.
    assert bring(tab, "drop", "boats.csv")
    tab.see("Only photos can be attached")
    assert not bring(tab, "paste", "cells.png", text="12 boats")
    assert not bring(tab, "paste", text="12 boats")
    assert not bring(tab, "drop", text="12 boats")
    tab.expect(tab.find(".attached")).to_have_count(0)
