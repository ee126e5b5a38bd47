"""`manage.py unpark_changes`: makes parked changes pending again.

**When**: the cause of parked changes is removed. It makes them pending again, with no attempts
used, and wakes drainers. Select them by `--kind`, `--owner`, `--id` (may be repeated; needs
`--shard`) or `--all`. Changes that fail again are parked again. **Costs**: one statement for 500
changes, and the cost of the consumers.

```
$ manage.py unpark_changes --kind posts.created
shard2 #4711 posts.created of 17, 10 attempts: ValueError: no such number
1 changes done, 1 changed, 0 failed
```
"""

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
