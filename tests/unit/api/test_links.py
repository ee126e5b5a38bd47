"""What a text links to, and the HTML of it."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.html import render, to_html
from infra.api.links import count_characters, find_links, is_here


def parts(text: str) -> list[list[str]]:
    links = find_links(text)
    return [
        [one.text for one in links.addresses],
        [one.name + ("@" + one.host if one.host else "") for one in links.names],
        [one.text for one in links.tags],
    ]


@pytest.mark.parametrize(
    ("text", "addresses", "names", "tags"),
    [
        ("plain text, a@b.example and C#", [], [], []),
        ("@Bob, hello", [], ["bob"], []),
        ("(@bob) @bob_2: .@carol", [], ["bob", "bob_2", "carol"], []),
        ("@bob@localhost:8000 @eve@far.example.", [], ["bob@localhost:8000", "eve@far.example"], []),  # noqa: E501
        ("@@bob x@bob =@bob /@bob @", [], [], []),
        ("#One #two2 #2024 #日本 #über_all #", [], [], ["One", "two2", "日本", "über_all"]),
        ("a#b ##c &#39; /#d", [], [], []),
        ("see https://a.example/x_(y)?q=@bob#part.", ["https://a.example/x_(y)?q=@bob#part"], [], []),  # noqa: E501
        ("http://localhost:8000/@bob/1 #x", ["http://localhost:8000/@bob/1"], [], ["x"]),
        ("javascript://x example.com mailto:a@b.example ftp://a.example", [], [], []),
    ],
)  # fmt: skip
def test_parts_of_a_text(text, addresses, names, tags):
    assert parts(text) == [addresses, names, tags]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("hello", 5),
        ("https://a.example/" + "x" * 400, 23),
        ("http://a.b", 23),
        ("@bob@a.example!", 5),
    ],
)
def test_characters_are_counted_as_in_mastodon(text, count):
    assert count_characters(text) == count


def test_only_names_of_this_site_are_here(settings):
    settings.PUBLIC_URL = "https://Tide.example:8000"
    names = find_links("@a @b@tide.example:8000 @c@tide.example @d@far.example").names
    assert [one.name for one in names if is_here(one)] == ["a", "b"]


def test_html_of_links(settings):
    settings.PUBLIC_URL = "https://tide.example"
    text = '@Bob <#Tag> https://www.a.example/a"b/1234567890123456789012345?x=1&y'
    links = find_links(text)
    html = render(text, links, {one: one.name for one in links.names})
    assert html.startswith(
        '<p><span class="h-card" translate="no"><a href="https://tide.example/@bob"'
        ' class="u-url mention">@<span>bob</span></a></span> &lt;'
        '<a href="https://tide.example/tags/tag" class="mention hashtag" rel="tag">'
        "#<span>Tag</span></a>&gt; "
    )
    assert '<span class="invisible">https://www.</span>' in html
    assert to_html("@bob") == "<p>@bob</p>"


class Reader(HTMLParser):
    """Collects the text and the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags = "", set[str]()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"href", "target", "rel", "translate", "class"}
        assert all(v.startswith("http") for n, v in attrs if n == "href" and v is not None)


@given(st.text(st.sampled_from("ab@#/:<>\"'&.? 1é") | st.characters(codec="utf-8"), max_size=60))
def test_html_says_what_the_text_says(text):
    reader = Reader()
    reader.feed(to_html(text.replace("\n", " ").replace("\r", " ") + " https://a.b/<"))
    assert reader.text == text.replace("\n", " ").replace("\r", " ") + " https://a.b/<"
    assert reader.tags <= {"p", "a", "span"}
