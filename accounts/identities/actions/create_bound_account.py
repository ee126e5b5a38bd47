"""Signs up the account of an identity: user, change and identity are one transaction."""

from datetime import datetime

from django.db import IntegrityError, transaction

from accounts.actions.sign_up import sign_up
from accounts.identities.models import ExternalIdentity
from accounts.identities.queries.bound_accounts import find_bound_account
from accounts.identities.types import BoundAccount, ExternalId, ProvisionedAccount
from accounts.types import NewUser
from infra.api.errors import ValidationFailed
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('accounts.identities ' || %s, 0))"


def create_bound_account(identity: ExternalId, new: NewUser, now: datetime) -> ProvisionedAccount:
    """The new account of this identity, or the one that another call has just created.

    A kill leaves all of it or nothing; the account's row follows the user's as after any sign-up.
    Safety: of several calls at once one creates it, and the others wait. Raises: ValidationFailed.
    Cost: that of `sign_up` without the slow hash, and three statements.
    """
    try:
        return _create(identity, new, now)
    except (ValidationFailed, IntegrityError):
        # An import, which takes no such lock, may have created it.
        known = find_bound_account(identity)
        if known is None:
            raise
        return ProvisionedAccount(known, is_new=False)


def _create(identity: ExternalId, new: NewUser, now: datetime) -> ProvisionedAccount:
    with transaction.atomic(using=GLOBAL_ALIAS):
        execute(GLOBAL_ALIAS, LOCK, (" ".join(map(str, identity)),))
        known = find_bound_account(identity)
        if known is not None:
            return ProvisionedAccount(known, is_new=False)
        account_id = sign_up(new, now)
        ExternalIdentity(**identity._asdict(), user_id=account_id).save(force_insert=True)
    made = BoundAccount(identity.subject, account_id, new.username.lower(), is_suspended=False)
    return ProvisionedAccount(made, is_new=True)
