"""Suspends or restores one account, as a job of one row."""

from collections.abc import Iterator
from datetime import datetime

from accounts.errors import AccountNotFound
from accounts.queries.restrictions import read_restricted
from accounts.queries.usernames import is_user
from accounts.types import Restriction
from infra.jobs.types import Batch, Work
from moderation.actions.judge import judge_account
from moderation.types import Act, Verdict


def judge_one(work: Work, act: Act, reason: str, now: datetime) -> Iterator[Batch]:
    """One batch of the account. Raises: AccountNotFound, ReasonMissing, AccountPurged.

    Second run: nothing changes.
    """
    account_id = work.account_id or 0
    if work.dry_run:
        is_news = _would_change(account_id, act)
    else:
        is_news = judge_account(account_id, act, Verdict(None, reason), now) is not None
    yield Batch(1, 0, "", int(is_news), None, [f"account {account_id}: {act}"] if is_news else [])


def _would_change(account_id: int, act: Act) -> bool:
    if not is_user(account_id):
        raise AccountNotFound
    held = read_restricted([account_id]).get(account_id)
    restrictions = held.restrictions if held else Restriction.NONE
    if act is Act.RESTORE:
        return restrictions is not Restriction.NONE
    return Restriction.SUSPENDED not in restrictions
