"""The HTML of posts on the product's pages: paragraphs and links, and nothing else.

Tideline makes this HTML of plain text. The product still lets through only what a post needs, so
that its own pages stay safe if a server in between does not.
"""

import nh3
from django.utils.safestring import SafeString, mark_safe

TAGS = {"p", "br", "a", "span"}
ATTRIBUTES = {"a": {"href", "class"}, "span": {"class"}}
SCHEMES = {"http", "https"}
LINK = "nofollow noopener noreferrer"


def clean(html: str) -> SafeString:
    cleaned = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel=LINK)
    return mark_safe(cleaned)  # noqa: S308  # nosec B308, B703 - it has just been cleaned


def web_address(url: str) -> str:
    """The address if it is one of the web, else "#"."""
    return url if url.startswith(("https://", "http://")) else "#"
