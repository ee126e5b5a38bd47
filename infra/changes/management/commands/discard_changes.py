"""`manage.py discard_changes`: removes parked changes from the change table.

**When**: a parked change can never be delivered. Only parked changes can be discarded; `--dry-run`
lists them. Select them as for [`unpark_changes`](#unpark_changes). `--reason` is required. One
statement moves the row to the table `changes_discardedchange`, with its payload, its error, the
reason and the person. Nothing deletes it there. **After it**: the effects of the change are
missing. Run [`audit_edges --repair`](relations.md#audit_edges),
[`recount_counters`](counters.md#recount_counters) or [`audit_timelines
--repair`](timelines.md#audit_timelines); after a `posts.created` also [`backfill_recent_posts
--again`](timelines.md#backfill_recent_posts). **Costs**: one statement for 500 changes.

```
$ manage.py discard_changes --shard shard2 --id 4711 --reason "its author was purged"
shard2 #4711 posts.created of 17, 10 attempts: ValueError: no such number
1 changes done, 1 changed, 0 failed
```
"""

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
