"""The text of a post's HTML, as its author may have typed it."""

from html.parser import HTMLParser

_BREAKS = {"p": "\n\n", "br": "\n", "li": "\n", "blockquote": "\n\n", "pre": "\n\n"}


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br" or self.parts:
            self.parts.append(_BREAKS.get(tag, ""))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of_html(html: str) -> str:
    """Paragraphs are separated by an empty line. A link is its text: Mastodon's hide no part."""
    collector = _TextCollector()
    collector.feed(html)
    collector.close()
    return "".join(collector.parts).strip()
