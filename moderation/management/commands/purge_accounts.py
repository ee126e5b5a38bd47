"""`manage.py purge_accounts`: deletes the data of accounts that were suspended long ago."""

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
