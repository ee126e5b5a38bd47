"""Plain text as the HTML that Mastodon clients expect: escaped, with links and paragraphs.

Markdown of operators as HTML: no HTML of theirs, no pictures, and links that run nothing.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from urllib.parse import quote

from django.conf import settings
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from accounts.texts.links import NameSpan, TextLinks, TextSpan, find_links, normalize_tag

_PARAGRAPHS = re.compile(r"\n{2,}")
_PROTOCOL = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)
SHOWN_OF_ADDRESS = 30  # characters, as in Mastodon


def to_html(text: str) -> str:
    """`<p>` a paragraph, `<br />` a line; empty text stays empty. Addresses and tags are links."""
    return render(text, find_links(text), {})


def line_to_html(text: str) -> str:
    """As `to_html`, for a text of one line: without paragraphs."""
    return "".join(_iter_html(text, find_links(text), {}))


def render(text: str, links: TextLinks, names: Mapping[NameSpan, str]) -> str:
    """As `to_html`, with links that were found before.

    `names`: the usernames of the accounts that some @names of the text mean. They are links too.
    """
    return _in_paragraphs("".join(_iter_html(text, links, names)))


def profile_url(username: str) -> str:
    return f"{settings.PUBLIC_URL}/@{username}"


def tag_url(name: str) -> str:
    """`name`: normalized."""
    return f"{settings.PUBLIC_URL}/tags/{quote(name)}"


def _iter_html(text: str, links: TextLinks, names: Mapping[NameSpan, str]) -> Iterator[str]:
    parts = [
        *((address.start, address.end, _link_address(address.text)) for address in links.addresses),
        *((tag.start, tag.end, _link_tag(tag)) for tag in links.tags),
        *((span.start, span.end, _link_name(names[span])) for span in links.names if span in names),
    ]
    at = 0
    for start, end, html in sorted(parts):
        yield escape(text[at:start])
        yield html
        at = end
    yield escape(text[at:])


def _in_paragraphs(html: str) -> str:
    lines = html.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not lines:
        return ""
    paragraphs = _PARAGRAPHS.split(lines)
    return "".join(f"<p>{p.replace(chr(10), '<br />')}</p>" for p in paragraphs)


def _link_address(address: str) -> str:
    """A link as in Mastodon: clients hide the protocol and the end of a long address."""
    match = _PROTOCOL.match(address)
    start = match[0] if match else ""
    shown, tail = address[len(start) :][:SHOWN_OF_ADDRESS], address[len(start) + SHOWN_OF_ADDRESS :]
    cut = "ellipsis" if tail else ""
    return (
        f'<a href="{escape(address)}" target="_blank" rel="nofollow noopener noreferrer"'
        f' translate="no"><span class="invisible">{escape(start)}</span>'
        f'<span class="{cut}">{escape(shown)}</span>'
        f'<span class="invisible">{escape(tail)}</span></a>'
    )


def _link_tag(tag: TextSpan) -> str:
    url = escape(tag_url(normalize_tag(tag.text)))
    return f'<a href="{url}" class="mention hashtag" rel="tag">#<span>{escape(tag.text)}</span></a>'


def _link_name(username: str) -> str:
    return (
        f'<span class="h-card" translate="no"><a href="{profile_url(username)}"'
        f' class="u-url mention">@<span>{username}</span></a></span>'
    )


_FIRST_LEVEL, _LAST_LEVEL = 2, 6
# Addresses in this site, and of these schemes.
_SAFE_LINK = re.compile(r"(https?:|mailto:|[/#](?!/))", re.IGNORECASE)


def _lower_headings(state: StateCore) -> None:
    """The page has a title above the text, so the highest headings become second ones."""
    ends = ("heading_open", "heading_close")
    headings = [token for token in state.tokens if token.type in ends]
    highest = min((int(heading.tag[1:]) for heading in headings), default=1)
    for heading in headings:
        level = int(heading.tag[1:]) - highest + _FIRST_LEVEL
        heading.tag = f"h{min(level, _LAST_LEVEL)}"


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        return _SAFE_LINK.match(url.strip()) is not None


def _renderer() -> MarkdownIt:
    markdown = _Markdown("commonmark", {"html": False}).enable("table").disable("image")
    markdown.core.ruler.push("lower_headings", _lower_headings)
    return markdown


_MARKDOWN = _renderer()


def markdown_to_html(text: str) -> str:
    """Empty text stays empty. Links that are not safe stay text."""
    return str(_MARKDOWN.render(text)) if text.strip() else ""
