"""Suspends or restores one account, as a job of one row, and the base of both commands."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.core.management import CommandError

from accounts.errors import AccountNotFound
from accounts.queries.users import is_user, load_restrictions
from accounts.types import Restriction
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from moderation.actions.decide import decide_on_account
from moderation.types import DecisionKind, DecisionOrigin


class DecisionCommand(JobCommand):
    """Base of accounts suspend and accounts restore; a subclass sets `kind`."""

    kind: ClassVar[DecisionKind]
    unit = "accounts"
    flags = frozenset((JobFlag.ACCOUNT, JobFlag.DRY_RUN))

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="why; the account can read it")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None or not options["reason"].strip():
            raise CommandError("--account and --reason are required")
        return decide_one(work, self.kind, options["reason"], datetime.now(UTC))


def decide_one(work: Work, kind: DecisionKind, reason: str, now: datetime) -> Iterator[Batch]:
    """Decides on the account that `work` names; yields one batch.

    Raises: AccountNotFound, DecisionNeedsReason, AccountPurged. Safety: idempotent.
    """
    account_id = work.account_id or 0
    if work.dry_run:
        is_changed = _would_change(account_id, kind)
    else:
        origin = DecisionOrigin(None, reason)
        is_changed = decide_on_account(account_id, kind, origin, now) is not None
    lines = [f"account {account_id}: {kind}"] if is_changed else []
    yield Batch(1, 0, "", int(is_changed), None, lines)


def _would_change(account_id: int, kind: DecisionKind) -> bool:
    if not is_user(account_id):
        raise AccountNotFound
    restricted = load_restrictions([account_id]).get(account_id)
    restrictions = restricted.restrictions if restricted else Restriction.NONE
    if kind is DecisionKind.RESTORE:
        return restrictions is not Restriction.NONE
    return Restriction.SUSPENDED not in restrictions
