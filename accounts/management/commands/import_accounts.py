"""`manage.py import_accounts`: creates the accounts of another system.

**When**: before the other two. It creates a user and an account for each id that is not bound yet,
without a password: people choose one by "forgotten password", so each needs an e-mail address. It
changes no account that exists, also if the other system's profile has changed. **Costs**: three
statements on the default database for 1,000 lines.

```
$ manage.py import_accounts accounts.jsonl --refused refused.jsonl
line 4: the username or the e-mail address is taken
20,000 lines done, 19,999 changed, 1 failed
```
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from accounts.jobs.import_accounts import write_accounts
from accounts.types import FIRST_TENANT
from infra.importing.command import ImportCommand
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import AccountRecord


class Command(ImportCommand):
    help = (
        "Creates the accounts in a file of another system, with their dates and without passwords."
        " The same file again changes nothing."
    )
    record = AccountRecord
    batch_size = 1_000

    def write(self, records: Sequence[NumberedRecord[Any]], dry_run: bool) -> WrittenBatch:
        return write_accounts(FIRST_TENANT, records, datetime.now(UTC), dry_run)
