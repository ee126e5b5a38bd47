"""`manage.py audit_accounts`: compares users with accounts, and repairs what differs.

**When**: after a shard or the default database was [restored](../../how-to/back-up.md), or changes
were discarded. It compares the users of the default database with the accounts of the shards. Each
difference is a line and a failed row. `--repair` repairs them:

- *a user has no account*: the account is created, with an empty profile. Its tokens work again.
- *a user has other restrictions than the account*: the account gets those of the user.
- *an account has no user*: the default database was restored. A user with that name and id is
  created, who cannot sign in until an operator sets an e-mail address. If another user has the
  name, the line stays.
- *the id of an account would be given to a new user*: the default database continues with higher
  ids.

An account with newer restrictions than its user is named only: a moderator has to decide again.
**Costs**: four queries for 500 users or accounts.

```
$ manage.py audit_accounts
account 45: user @bob has no account
account 46: @cyd has no user
798 rows done, 2 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from accounts.jobs.audit_accounts import audit_accounts
from accounts.sql import ACCOUNTS
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows


class Command(JobCommand):
    help = (
        "Compares the users of the default database with the accounts of the shards. Differences"
        " that are not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        rows = estimate_rows(work, ACCOUNTS)
        return None if rows is None else 2 * rows

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_accounts(work, options["repair"])
