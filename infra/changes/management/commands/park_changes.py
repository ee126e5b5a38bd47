"""`manage.py park_changes`: sets pending changes aside by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from infra.changes.models import ChangeState
from infra.changes.parking import park
from infra.changes.selection import SelectedChangesCommand


class Command(SelectedChangesCommand):
    help = (
        "Sets pending changes aside, with a reason, until unpark_changes or discard_changes."
        " Needs --kind, --owner, --id or --all."
    )
    offered = ChangeState.PENDING
    reason_help = "why, for those who find them"

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        return park(alias, ids, options["reason"])
