"""Markdown of operators as HTML: no HTML of theirs, no pictures, and links that run nothing."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

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
