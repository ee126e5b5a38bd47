"""The page on which a person brings lists from another server, and what became of their lines."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from infra.api.errors import TidelineError
from infra.api.parsing import read_text
from infra.cells import write_csv
from integrations.brought_lists.actions.start import start_file
from integrations.brought_lists.errors import FileRefused
from integrations.brought_lists.parse import COLUMNS, MOST_BYTES, MOST_LINES, parse_file
from integrations.brought_lists.queries.results import find_progress, list_lines
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
        try:
            kind, content = self._read(request)
            lines = [orjson.dumps(cells).decode() for cells in parse_file(kind, content)]
            start_file(self.user.pk, kind, lines)
        except TidelineError as refusal:
            return self.ask(refusal_text(str(refusal)))
        return HttpResponseRedirect(f"{request.path}?saved", status=303)

    def _read(self, request: HttpRequest) -> tuple[BroughtKind, bytes]:
        chosen, file = read_text(request.POST, "kind"), request.FILES.get("file")
        if file is None or chosen not in {str(int(kind)) for kind in BroughtKind}:
            raise FileRefused("Choose a list and a file")
        # One more than is allowed is enough for the refusal.
        return BroughtKind(int(chosen)), file.read(MOST_BYTES + 1)


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
