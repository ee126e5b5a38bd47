"""The markers of pages, and what comes in their places."""

import re
from collections.abc import Callable, Mapping

from lab.conformance.report import kept_results
from lab.faults.mutants.report import load_trials, mutant_table
from lab.faults.report import fault_tables
from lab.faults.results import load_results
from lab.reference.api import endpoint_rows
from lab.reference.commands import command_sections
from lab.reference.explained import consumer_rows, decision_items, edge_rows, family_rows
from lab.reference.metrics import metric_rows
from lab.reference.notes import NOTE, names_in_note
from lab.reference.settings import setting_sections
from lab.reference.tasks import task_rows

RENDERERS: Mapping[str, Callable[[list[str]], str]] = {
    "commands": command_sections,
    "conformance": lambda _: kept_results(),
    "consumers": lambda _: consumer_rows(),
    "decisions": lambda _: decision_items(),
    "edges": lambda _: edge_rows(),
    "endpoints": lambda _: endpoint_rows(),
    "families": lambda _: family_rows(),
    "faults": lambda _: fault_tables(load_results()),
    "metrics": lambda _: metric_rows(),
    "mutants": lambda _: mutant_table(load_trials()),
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
