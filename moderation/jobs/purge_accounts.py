"""Deletes the data of accounts that were suspended long ago.

The job calls the same actions as the API, so counts, caches and timelines follow as always. It sets
PURGING on the account first. So a half-deleted account cannot be restored, and the next run finds
the account again if this run dies.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.actions.restrict import restrict_user
from accounts.actions.update_profile import update_profile
from accounts.second_step.actions.remove_device import delete_second_step
from accounts.sql import ACCOUNTS_TO_PURGE
from accounts.types import NO_PICTURE, ProfileEdit, Restriction
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all
from moderation.actions.decide import decide_on_account
from moderation.errors import NotSuspended, SuspensionEnds
from moderation.jobs.purge_rows import PASSES
from moderation.types import DecisionKind, DecisionOrigin
from relations.jobs.reset_relations import reset_relations

NO_DETAILS = ProfileEdit(display_name="", note="", fields=(), avatar=NO_PICTURE, header=NO_PICTURE)


def purge_accounts(
    work: Work, before: datetime, origin: DecisionOrigin, now: datetime
) -> Iterator[Batch]:
    """Purges the accounts that were suspended before `before`.

    Yields a batch for each batch of rows, and one for each finished account. Safety: idempotent;
    after a crash the next run finds the account and the rest of its rows. Cost: one transaction for
    each post, edge and viewer mark.
    """
    passes: Sequence[Callable[[Work], Iterator[Batch]]] = (*PASSES, reset_relations)
    for piece in walk(work._replace(limit=None), partial(_read_due, work.account_id, before)):
        for (account_id,) in piece.rows:
            if not work.dry_run and not _begin(account_id, origin, now):
                continue
            own = Work([piece.alias], account_id, None, work.batch_size, dry_run=work.dry_run)
            for run_pass in passes:
                # No checkpoint inside an account: a second run does not find deleted rows again.
                yield from (batch._replace(position=None) for batch in run_pass(own))
            failpoint("moderation.before_purged")
            if not work.dry_run:
                _finish(account_id, now)
            position = {"alias": piece.alias, "key": [account_id]}
            yield Batch(1, 0, piece.alias, 1, position, [f"account {account_id}"])


def _read_due(
    account_id: int | None, before: datetime, alias: str, after: Key | None, count: int
) -> list[Row]:
    params = {"account": account_id, "before": before, "after": after and after[0], "count": count}
    return fetch_all(alias, ACCOUNTS_TO_PURGE, params)


def _begin(account_id: int, origin: DecisionOrigin, now: datetime) -> bool:
    """Sets PURGING. False: a moderator restored the account, or its suspension has an end."""
    try:
        decide_on_account(account_id, DecisionKind.PURGE, origin, now)
    except (NotSuspended, SuspensionEnds):
        return False
    return True


def _finish(account_id: int, now: datetime) -> None:
    """Clears the profile and the login. The name and the id stay taken."""
    update_profile(account_id, NO_DETAILS)
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        user.email = user.language = ""
        user.set_unusable_password()
        delete_second_step(account_id)
        user.save(using=GLOBAL_ALIAS, update_fields=["email", "language", "password"])
        restrict_user(user, Restriction.SUSPENDED | Restriction.PURGED, now)
