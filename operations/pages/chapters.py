"""The chapters of the manual that say what to do, for operators who have no other way to it.

They are read from the checkout. An installed wheel has none: the page says where they are.
"""

import re
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from operations.site import page_context
from operations.types import Chapter

# The file in docs/, and the heading of the chapter; without a heading the whole file.
PLACES = {
    Chapter.PARKED: "how-to/handle-parked-changes.md",
    Chapter.MONITOR: "how-to/monitor.md#Alerts",
    Chapter.STORES: "how-to/when-a-store-fails.md",
    Chapter.REDIS: "how-to/set-up-redis.md",
    Chapter.MODERATE: "how-to/moderate.md",
}
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@require_safe
def show_chapter(request: HttpRequest, name: str) -> HttpResponse:
    if name not in PLACES:
        raise Http404
    file, _, heading = PLACES[Chapter(name)].partition("#")
    path = Path(settings.BASE_DIR) / "docs" / file
    text = cut(path.read_text(), heading) if path.exists() else ""
    context = page_context(request, f"What to do: {Chapter(name).label}")
    return render(
        request, "operations/chapter.html", {**context, "place": file, "text": html_of(text)}
    )


def cut(text: str, heading: str) -> str:
    """The chapter with this heading, up to the next one of its level; all without a heading."""
    begin = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE) if heading else None
    if begin is None:
        return text
    end = re.compile(rf"^#{{1,{len(begin[1])}}} ", re.MULTILINE).search(text, begin.end())
    return text[begin.start() : end.start() if end else None]


def html_of(text: str) -> str:
    """The first heading is an <h2>, below the title of the page. Of links only the words are shown:
    they lead to other files. The renderer escapes all else."""
    tokens = MARKDOWN.parse(text)
    headings = [token for token in tokens if token.type.startswith("heading")]
    down = 2 - int(headings[0].tag[1]) if headings else 0
    for token in headings:
        token.tag = f"h{int(token.tag[1]) + down}"
    for token in tokens:
        token.children = [*filter(_is_shown, token.children)] if token.children else None
    return str(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))


def _is_shown(token: Token) -> bool:
    return token.type not in ("link_open", "link_close")
