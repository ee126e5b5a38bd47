"""Markdown of operators: safe HTML below the title of a page."""

import pytest

from accounts.texts.markdown import markdown_to_html


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
