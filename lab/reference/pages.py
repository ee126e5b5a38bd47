"""The markers of pages, and what comes in their places."""

import re
from collections.abc import Callable, Mapping

from lab.reference.api import endpoint_rows
from lab.reference.commands import command_sections
from lab.reference.explained import consumer_rows, family_rows
from lab.reference.metrics import metric_rows
from lab.reference.notes import NOTE, names_in_note
from lab.reference.settings import setting_sections
from lab.reference.tasks import task_rows

RENDERERS: Mapping[str, Callable[[list[str]], str]] = {
    "commands": command_sections,
    "consumers": lambda _: consumer_rows(),
    "endpoints": lambda _: endpoint_rows(),
    "families": lambda _: family_rows(),
    "metrics": lambda _: metric_rows(),
    "settings": lambda _: setting_sections(),
    "tasks": lambda _: task_rows(),
}
MARKER = re.compile(rf"^<!-- ({'|'.join(RENDERERS)}) -->$", re.M)


def rendered(page: str) -> str:
    """The page with its declarations, and without the note that says where they are."""
    marker = MARKER.search(page)
    if not marker:
        return page
    text = RENDERERS[marker[1]](names_in_note(page))
    return MARKER.sub(lambda _: text, NOTE.sub("", page))
