"""The form counts the characters of a post as the server does."""

import pytest

from accounts.texts.links import count_characters
from tests.browser.feeds import enter
from tests.browser.neighbours import make_neighbours
from tests.browser.tab import Tab

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
def tab(world: None, tab_of, delivery: None) -> Tab:
    tab: Tab = tab_of()
    enter(tab, int(make_neighbours()["ann"]))
    return tab


def test_the_form_counts_as_the_server_does(tab: Tab) -> None:
    tab.open("/compose")
    left = "document.querySelector('.left b').textContent"
    for text in TEXTS:
        tab.fill("Your post", text)
        tab.wait(f"{left} === '{500 - count_characters(text.strip())}'")


def test_a_field_has_as_many_characters_as_people_see(tab: Tab) -> None:
    tab.open("/settings/profile")
    is_valid = "document.querySelector('[name=display_name]').checkValidity()"
    for count, is_right in ((100, True), (101, False), (1, True)):
        tab.type_into("[name=display_name]", FAMILY * count)
        # The script comes after the page.
        tab.wait(f"{is_valid} === {str(is_right).lower()}")
