"""`manage.py purge_accounts`: deletes the data of accounts that were suspended long ago.

**When**: it runs automatically, in [time slices](index.md#what-all-commands-share). Run it by hand
if that is too slow, or with `--account`. It deletes the data of accounts that were suspended for
more than `SUSPENSION_DAYS`: posts, reposts, favourites, bookmarks, mutes, lists, follows and blocks
in both directions, markers, the text of the profile, the e-mail address. Name and id stay taken;
reports and decisions stay. With `--account` and `--yes` it purges one suspended account at once.
`--dry-run` names every row. It cannot be undone. **Costs**: one transaction for each post, mark and
edge (five statements, ten for an edge). The drain updates counts, caches and timelines. An account
with a million followers takes hours: `--rate` keeps the change table short. **Stopping it**: Ctrl-C
or `kill -9`. An account whose purge has begun cannot be restored, and the next run continues with
it. `--resume` skips finished accounts.

```
$ manage.py purge_accounts --rate 200
posts_post 44/35012736
posts_viewermark 44/34990704/12/3
edge 47 → 44: FOLLOW
account 44
4 rows done, 4 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.management import CommandError

from accounts.queries.users import load_restrictions
from accounts.types import Restriction
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from moderation.errors import SuspensionEnds
from moderation.jobs.purge_accounts import purge_accounts
from moderation.queries.ends import load_ends
from moderation.types import DecisionOrigin


class Command(JobCommand):
    help = (
        "Deletes the data of all accounts suspended for more than SUSPENSION_DAYS. With --account"
        " and --yes: of one suspended account at once. It cannot be undone."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="with --account: purge at once")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        now = datetime.now(UTC)
        before = now - timedelta(days=settings.SUSPENSION_DAYS)
        if work.account_id is not None:
            self._check(work.account_id, options["yes"] or work.dry_run)
            before = now
        return purge_accounts(work, before, DecisionOrigin(None, "purge_accounts"), now)

    def _check(self, account_id: int, is_confirmed: bool) -> None:
        restrictions = load_restrictions([account_id]).get(account_id)
        if restrictions is None or restrictions.suspended_at is None:
            raise CommandError("this account is not suspended: run suspend_account first")
        if Restriction.SUSPENDED in load_ends([account_id]).get(account_id, {}):
            raise CommandError(SuspensionEnds.text)
        if not is_confirmed:
            raise CommandError("this cannot be undone: --dry-run shows it, --yes does it")
