"""HTML as lines that can be compared: a tag or a text a line, without spaces that nobody sees."""

import re
from html.parser import HTMLParser

# Spaces next to the tags of these are not shown.
BLOCKS = {
    "article", "aside", "details", "div", "footer", "form", "header", "input", "li", "nav",
    "option", "p", "section", "summary", "ul",
}  # fmt: skip


class _Lines(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.lines.append(f"<{' '.join([tag, *(f'{k}={v!r}' for k, v in sorted(attributes))])}>")

    def handle_endtag(self, tag: str) -> None:
        self.lines.append(f"</{tag}>")

    def handle_data(self, text: str) -> None:
        self.lines.append(re.sub(r"\s+", " ", text))


def plain_lines(html: str) -> list[str]:
    """The lines of a page or a part. CSRF tokens are left out: each page has others."""
    parser = _Lines()
    parser.feed(re.sub(r'(name="csrfmiddlewaretoken" value=)"\w+"', r'\1""', html))
    parser.close()
    around = zip(["</p>", *parser.lines], parser.lines, [*parser.lines[1:], "</p>"], strict=False)
    lines = [_strip(line, _is_block(before), _is_block(after)) for before, line, after in around]
    return [line for line in lines if line]


def _strip(line: str, left: bool, right: bool) -> str:
    if line.startswith("<"):
        return line
    line = line.lstrip() if left else line
    return line.rstrip() if right else line


def _is_block(line: str) -> bool:
    name = re.match(r"</?(\w+)", line)
    return name is not None and name[1] in BLOCKS
