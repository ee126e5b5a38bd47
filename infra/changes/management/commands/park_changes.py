"""`manage.py park_changes`: parks pending changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from infra.changes.models import ChangeState
from infra.changes.parking import park
from infra.changes.selection import SelectedChangesCommand


class Command(SelectedChangesCommand):
    help = (
        "Parks pending changes, with a reason, until unpark_changes or discard_changes."
        " Needs --kind, --owner, --id or --all."
    )
    offered = ChangeState.PENDING
    reason_help = "why; shown with each change"

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        return park(alias, ids, options["reason"])
