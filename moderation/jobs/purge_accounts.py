"""Deletes what suspended accounts left, by the actions that people's own acts take.

So counts, caches and timelines follow as they always do. An account is marked before anything of it
goes, so that it cannot be restored half deleted, and found again by the next run if this one dies.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from django.db import transaction

from accounts.actions.restrict import lock_user, restrict_user
from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, Restriction
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, walk
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all
from moderation.actions.decide import decide_on_account
from moderation.errors import NotSuspended
from moderation.jobs.purge_rows import PASSES
from moderation.types import DecisionKind, DecisionOrigin
from relations.jobs.reset_relations import reset_relations

# Those that somebody began to purge come first of all: whatever became of the time since.
DUE = f"""
SELECT id FROM accounts_account
WHERE suspended_at IS NOT NULL AND restrictions & {Restriction.PURGED:d} = 0
    AND (%(account)s::bigint IS NULL OR id = %(account)s)
    AND (restrictions & {Restriction.PURGING:d} <> 0 OR suspended_at < %(before)s)
    AND (%(after)s::bigint IS NULL OR id > %(after)s)
ORDER BY id LIMIT %(count)s
"""  # noqa: S608


def purge_accounts(
    work: Work, before: datetime, origin: DecisionOrigin, now: datetime
) -> Iterator[Batch]:
    """Everything of accounts suspended before then; a batch of rows each, and one that ends each
    account.

    Safety: idempotent; killed anywhere, the next run finds the account and what is left of it.
    Cost: as deleting each post, ending each edge and each mark, one by one.
    """
    passes: Sequence[Callable[[Work], Iterator[Batch]]] = (*PASSES, reset_relations)
    for piece in walk(work._replace(limit=None), partial(_read_due, work.account_id, before)):
        for (account_id,) in piece.rows:
            if not work.dry_run and not _begin(account_id, origin, now):
                continue
            own = Work([piece.alias], account_id, None, work.batch_size, dry_run=work.dry_run)
            for one in passes:
                # Places inside an account are kept by nobody: what is done is not found again.
                yield from (batch._replace(position=None) for batch in one(own))
            failpoint("moderation.before_purged")
            if not work.dry_run:
                _finish(account_id, now)
            place = {"alias": piece.alias, "key": [account_id]}
            yield Batch(1, 0, piece.alias, 1, place, [f"account {account_id}"])


def _read_due(
    account_id: int | None, before: datetime, alias: str, after: Key | None, count: int
) -> list[Row]:
    params = {"account": account_id, "before": before, "after": after and after[0], "count": count}
    return fetch_all(alias, DUE, params)


def _begin(account_id: int, origin: DecisionOrigin, now: datetime) -> bool:
    """False: somebody restored it since it was read."""
    try:
        decide_on_account(account_id, DecisionKind.PURGE, origin, now)
    except NotSuspended:
        return False
    return True


def _finish(account_id: int, now: datetime) -> None:
    """Its name stays taken, and its id; nothing else is left of it."""
    update_profile(account_id, ProfileEdit(display_name="", note=""))
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        user.email = ""
        user.set_unusable_password()
        user.save(using=GLOBAL_ALIAS, update_fields=["email", "password"])
        restrict_user(user, Restriction.SUSPENDED | Restriction.PURGED, now)
