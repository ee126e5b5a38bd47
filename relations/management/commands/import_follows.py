"""`manage.py import_follows`: writes the follows of another system.

**When**: the accounts are there. Both lists and all counts have the follow at the end, and no
account is notified. Blocks win, also those that began here. A follow that ended here comes back
only if it began again there: its `since` is later. Follows are limited by `FOLLOW_CAP`, not by the
day. A file whose lines of one follower are together is imported fastest.

```
$ manage.py import_follows follows.jsonl.gz
import_follows: 412,000 of 1,000,000 (9,939/s, 59 s left)
1,000,000 lines done, 1,000,000 changed, 0 failed
```
"""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import cached_property

from accounts.types import FIRST_TENANT
from infra.clock import now_ms
from infra.importing.command import ImportCommand
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import FollowRecord
from relations.jobs.import_follows import FollowImporter


class Command(ImportCommand):
    help = (
        "Writes the follows in a file of another system, with their dates and without"
        " notifications. The same file again changes nothing."
    )
    record = FollowRecord

    @cached_property
    def _importer(self) -> FollowImporter:
        return FollowImporter(FIRST_TENANT)

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return self._importer.write(records, now_ms(), dry_run)
