"""`manage.py unpark_changes`: parked changes are tried again."""

from collections.abc import Mapping, Sequence
from typing import Any

from infra.changes.models import ChangeState
from infra.changes.parking import retry_parked
from infra.changes.selection import SelectedChangesCommand


class Command(SelectedChangesCommand):
    help = (
        "Puts parked changes back into the queue, as if they had not been tried."
        " Needs --kind, --owner, --id or --all."
    )
    offered = ChangeState.PARKED

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        return retry_parked(alias, ids)
