"""Compares users, on the default database, with the accounts on the shards."""

from collections.abc import Iterator
from functools import partial

from accounts.jobs.audit_account_rows import audit_account_rows
from accounts.jobs.audit_users import audit_users
from infra.jobs.several_passes import in_turn
from infra.jobs.types import Batch, Work


def audit_accounts(work: Work, repair: bool) -> Iterator[Batch]:
    """Users without an account, accounts without a user, and restrictions that differ.

    Differences that are not repaired are failed rows. Cost: four queries a batch.
    """
    users, accounts = (partial(audit, repair=repair) for audit in (audit_users, audit_account_rows))
    return in_turn(work, users, accounts)
