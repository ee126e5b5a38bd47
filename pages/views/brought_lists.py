"""The page on which a person brings lists from another server, and what became of their lines."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from infra.api.errors import TidelineError
from infra.api.parsing import read_text
from infra.cells import write_csv
from integrations.brought_lists.actions import start_file
from integrations.brought_lists.errors import FileRefused
from integrations.brought_lists.parse import COLUMNS, MOST_BYTES, MOST_LINES, ParsedFile, parse_file
from integrations.brought_lists.queries import find_progress, list_lines
from integrations.brought_lists.types import BroughtKind, LineState
from pages.refusals import refusal_text
from pages.texts import later as _
from pages.views.own_account import OwnAccountPage

MOST_SHOWN = 100
NAMES = {
    BroughtKind.FOLLOWS: _("People you follow"),
    BroughtKind.BLOCKS: _("People you block"),
    BroughtKind.MUTES: _("People you mute"),
    BroughtKind.BOOKMARKS: _("Bookmarks"),
    BroughtKind.LISTS: _("Lists"),
}
# A file that does not say of which kind it is.
QUESTIONS = {
    BroughtKind.FOLLOWS: _("Are these people you want to follow?"),
    BroughtKind.BLOCKS: _("Are these people you want to block?"),
    BroughtKind.MUTES: _("Are these people you want to mute?"),
    BroughtKind.BOOKMARKS: _("Are these posts you want to bookmark?"),
    BroughtKind.LISTS: _("Are these names of lists, each with a person?"),
}
ACTS = {
    BroughtKind.FOLLOWS: _("Follow them"),
    BroughtKind.BLOCKS: _("Block them"),
    BroughtKind.MUTES: _("Mute them"),
    BroughtKind.BOOKMARKS: _("Bookmark them"),
    BroughtKind.LISTS: _("Add them to lists"),
}
SHOWN_FIRST = 3


class BringPage(OwnAccountPage):
    """Takes a CSV file, and shows how far the last one is."""

    template = "settings/bring.html"

    def more(self) -> dict[str, Any]:
        progress = find_progress(self.user.pk)
        return {
            "kinds": {int(kind): name for kind, name in NAMES.items()},
            "most_lines": MOST_LINES,
            "progress": progress,
            "name": NAMES[progress.kind] if progress else "",
            "refused": list_lines(self.user.pk, MOST_SHOWN, only_refused=True) if progress else (),
        }

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """A file that does not say of which kind it is comes twice: with `content` the person has
        seen its first lines."""
        try:
            kind, content = self._read(request)
            parsed = parse_file(kind, content)
            if not parsed.is_sure and "content" not in request.POST:
                return self._ask_back(kind, content, parsed)
            start_file(self.user.pk, kind, [orjson.dumps(line).decode() for line in parsed.lines])
        except TidelineError as refusal:
            return self.ask(refusal_text(str(refusal)))
        return HttpResponseRedirect(f"{request.path}?saved", status=303)

    def _read(self, request: HttpRequest) -> tuple[BroughtKind, bytes]:
        chosen, file = read_text(request.POST, "kind"), request.FILES.get("file")
        if chosen not in {str(int(kind)) for kind in BroughtKind}:
            raise FileRefused("Choose a list and a file")
        if "content" in request.POST:
            # Browsers write each end of a line as two characters, and the file would be too large.
            content = read_text(request.POST, "content").replace("\r\n", "\n")
            return BroughtKind(int(chosen)), content.encode()
        if file is None:
            raise FileRefused("Choose a list and a file")
        # One more than is allowed is enough for the refusal.
        return BroughtKind(int(chosen)), file.read(MOST_BYTES + 1)

    def _ask_back(self, kind: BroughtKind, content: bytes, parsed: ParsedFile) -> HttpResponseBase:
        context = {
            "kind": int(kind), "question": QUESTIONS[kind], "act": ACTS[kind],
            "content": content.decode("utf-8-sig"), "number": len(parsed.lines),
            "first": [", ".join(filter(None, line)) for line in parsed.lines[:SHOWN_FIRST]],
        }  # fmt: skip
        return self.draw("settings/bring_asked.html", context)


class BroughtResultPage(OwnAccountPage):
    """All lines of the last file as CSV, each with what became of it."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        progress = find_progress(self.user.pk)
        heading = [["Line", *COLUMNS[progress.kind], "Result", "Reason"]] if progress else []
        lines = [
            [line.number, *line.cells, _word(line.state), line.reason]
            for line in list_lines(self.user.pk, MOST_LINES)
        ]
        headers = {"Content-Disposition": 'attachment; filename="result.csv"'}
        text = write_csv([*heading, *lines])
        return HttpResponse(text, content_type="text/csv", headers=headers)


def _word(state: LineState) -> str:
    return state.name.lower()
