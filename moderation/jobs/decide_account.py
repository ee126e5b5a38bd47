"""Suspends or restores one account, as a job of one row; and what both commands share."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.core.management import CommandError

from accounts.errors import AccountNotFound
from accounts.queries.restrictions import load_restrictions
from accounts.queries.users import is_user
from accounts.types import Restriction
from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from moderation.actions.decide import decide_on_account
from moderation.types import DecisionKind, DecisionOrigin


class DecisionCommand(JobCommand):
    """Subclasses say which act it is."""

    act: ClassVar[DecisionKind]
    unit = "accounts"
    flags = frozenset((JobFlag.ACCOUNT, JobFlag.DRY_RUN))

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="kept with the act, shown to the account")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None or not options["reason"].strip():
            raise CommandError("--account says who, and --reason why")
        return decide_one(work, self.act, options["reason"], datetime.now(UTC))


def decide_one(work: Work, act: DecisionKind, reason: str, now: datetime) -> Iterator[Batch]:
    """One batch of the account. Raises: AccountNotFound, ReasonMissing, AccountPurged.

    Second run: nothing changes.
    """
    account_id = work.account_id or 0
    if work.dry_run:
        is_news = _would_change(account_id, act)
    else:
        is_news = decide_on_account(account_id, act, DecisionOrigin(None, reason), now) is not None
    yield Batch(1, 0, "", int(is_news), None, [f"account {account_id}: {act}"] if is_news else [])


def _would_change(account_id: int, act: DecisionKind) -> bool:
    if not is_user(account_id):
        raise AccountNotFound
    held = load_restrictions([account_id]).get(account_id)
    restrictions = held.restrictions if held else Restriction.NONE
    if act is DecisionKind.RESTORE:
        return restrictions is not Restriction.NONE
    return Restriction.SUSPENDED not in restrictions
