"""`manage.py park_changes`: parks pending changes.

**When**: some pending changes must not be delivered now: those of one owner, or one change that
brings its shard down. `--reason` is shown with them. To stop a whole kind, [pause](#pause_changes)
it: later changes are not parked. A drain may still deliver a change that it has already taken.
Select them as for [`unpark_changes`](#unpark_changes). Audits report the effects of a parked change
as missing. **Costs**: a scan of the undelivered rows, and one statement for 500 selected changes.

```
$ manage.py park_changes --owner 17 --reason "INC-12: half its chunks time out"
shard1 #4712 timelines.chunk_cut of 17:
1 changes done, 1 changed, 0 failed
```
"""

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
