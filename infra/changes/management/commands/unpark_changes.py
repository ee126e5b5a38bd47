"""`manage.py unpark_changes`: makes parked changes pending again."""

from collections.abc import Mapping, Sequence
from typing import Any

from infra.changes.models import ChangeState
from infra.changes.parking import retry_parked
from infra.changes.selection import SelectedChangesCommand


class Command(SelectedChangesCommand):
    help = (
        "Makes parked changes pending again, with no attempts used."
        " Needs --kind, --owner, --id or --all."
    )
    offered = ChangeState.PARKED

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        return retry_parked(alias, ids)
