"""`manage.py discard_changes`: removes parked changes from the change table."""

import getpass
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from infra.changes.models import ChangeState
from infra.changes.parking import discard_parked
from infra.changes.selection import SelectedChangesCommand


class Command(SelectedChangesCommand):
    help = (
        "Removes parked changes from the change table; another table keeps them with the reason."
        " Needs --kind, --owner, --id or --all."
    )
    offered = ChangeState.PARKED
    reason_help = "why; kept with each change"

    def act(self, alias: str, ids: Sequence[int], options: Mapping[str, Any]) -> int:
        by = f"{getpass.getuser()}@{socket.gethostname()}"
        return discard_parked(alias, ids, options["reason"], by)
