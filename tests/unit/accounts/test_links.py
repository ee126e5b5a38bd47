"""What a text links to, and the HTML of it.

Markdown of operators: safe HTML below the title of a page.
"""

# ruff: noqa: RUF001 - signs of other scripts are meant

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.texts.html import markdown_to_html, render, to_html
from accounts.texts.links import count_characters, exceeds, find_links, is_here


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
        ("\uff03Tide \uff03日本 a\uff03b \uff03\uff03c \uff03", [], [], ["Tide", "日本"]),
        ("see https://a.example/x_(y)?q=@bob#part.", ["https://a.example/x_(y)?q=@bob#part"], [], []),  # noqa: E501
        ("http://localhost:8000/@bob/1 #x", ["http://localhost:8000/@bob/1"], [], ["x"]),
        ("javascript://x example.com mailto:a@b.example ftp://a.example", [], [], []),
        ("#हिन्दी #தமிழ் #বাংলা #กรุงเทพ", [], [], ["हिन्दी", "தமிழ்", "বাংলা", "กรุงเทพ"]),
        ("#Cafe\u0301! #می\u200cخواهم #col·legi #a· #1·", [], [], ["Cafe\u0301", "می\u200cخواهم", "col·legi", "a"]),  # noqa: E501
        ("हिन्दी@bob หิน@bob می\u200c@bob", [], [], []),
        ("「https://a.b/x」“https://a.b/y”‘https://a.b/z’", ["https://a.b/x", "https://a.b/y", "https://a.b/z"], [], []),  # noqa: E501
        ("«https://a.b/x…» (https://a.b/c_(d)) [https://a.b/e].", ["https://a.b/x", "https://a.b/c_(d)", "https://a.b/e"], [], []),  # noqa: E501
        ("https://a.b/x。 https://a.b/(y https://a.b, https://a.b?!", ["https://a.b/x", "https://a.b/", "https://a.b", "https://a.b"], [], []),  # noqa: E501
        ("https://bank.example@evil.example/ https://a:b@c.d/", [], [], []),
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


@pytest.mark.parametrize(
    "sign", ["🇩🇪", "👨\u200d👩\u200d👧\u200d👦", "e\u0301", "क्षि", "가", "\r\n", "x"]
)
def test_people_see_one_character(sign):
    assert count_characters(sign * 500) == 500
    assert not exceeds(sign * 500, 500)
    assert exceeds(sign * 501, 500)


@pytest.mark.parametrize(
    "text",
    [
        "https://a.b/" + "x" * 2_037,  # 2,049 characters
        "https://" + "x" * 254 + ".b/" + "y" * 300,
        "@bob@" + "x" * 256 + "y" * 300,
        "e" + "\u0301" * 5_000,
        ("https://a.b/" + "x" * 2_000 + " ") * 8,
        "@bob@" + "x" * 255 + ("@bob@" + "x" * 255) * 80,
    ],
)
def test_a_text_of_few_characters_is_not_heavy(text):
    assert exceeds(text, 500)


def test_longest_addresses_and_hosts_still_count_little():
    assert not exceeds("https://a.b/" + "x" * 2_036 + " " + "y" * 76, 100)
    assert not exceeds("@bob@" + "x" * 255, 100)
    assert find_links("@bob@" + "x" * 256).names == []


@pytest.mark.parametrize(
    "part",
    ["https://a.b/@bob #x @y ", "https://a.b/x(", "https://a.", "#1", "@a@.", "(", "()", "x@"],
)
def test_cost_is_linear_in_the_text(part):
    once, twice = (min(cost_s(part, size) for _ in range(3)) for size in (25_000, 100_000))
    assert twice < max(0.1, 10 * once)


def cost_s(part, size):
    text = "https://a.b/" + part * (size // len(part))
    start = time.thread_time()  # without what other processes take
    find_links(text)
    return time.thread_time() - start


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


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        (" \n", ""),
        ("# One", "<h2>One</h2>\n"),
        ("### One\n\n#### Two", "<h2>One</h2>\n<h3>Two</h3>\n"),
        ("# One\n\n###### Six", "<h2>One</h2>\n<h6>Six</h6>\n"),
        ("a *b*\n\n- c", "<p>a <em>b</em></p>\n<ul>\n<li>c</li>\n</ul>\n"),
        ("[a](https://x.example)", '<p><a href="https://x.example">a</a></p>\n'),
        ("[a](mailto:a@x.example)", '<p><a href="mailto:a@x.example">a</a></p>\n'),
        ("[a](/about)", '<p><a href="/about">a</a></p>\n'),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert markdown_to_html(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick='x()'>b</b>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](data:text/html;base64,AAAA)",
        "[a](//evil.example)",
        "[a](vbscript:x)",
        "![a](https://evil.example/x.png)",
        "<https://ok.example> <javascript:alert(1)>",
        "[a]: javascript:alert(1)\n\n[a]",
    ],
)
def test_nothing_runs_and_nothing_is_loaded(text: str) -> None:
    html = markdown_to_html(text)
    assert "<script" not in html and "<b" not in html and "<img" not in html
    assert 'href="j' not in html.lower() and 'href="data' not in html and 'href="//' not in html
    assert 'href="vb' not in html
