"""Plain text as the HTML that Mastodon clients expect: escaped, paragraphs and line breaks."""

import re
from html import escape

_PARAGRAPHS = re.compile(r"\n{2,}")


def to_html(text: str) -> str:
    """`<p>` a paragraph, `<br />` a line; empty text stays empty."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not lines:
        return ""
    paragraphs = _PARAGRAPHS.split(escape(lines))
    return "".join(f"<p>{p.replace(chr(10), '<br />')}</p>" for p in paragraphs)
