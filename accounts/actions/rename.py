"""Gives an account another username. The old one stays its own, and leads to it.

| killed | left | repaired by |
|---|---|---|
| before the commit on the default database | the old name | |
| after it, before the shard has the name | both names lead to the old one | the drain |
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import structlog
from django.db import IntegrityError, transaction

from accounts.actions.check_new_user import taken_fault, username_faults
from accounts.actions.lock_user import lock_user
from accounts.changes import ProfileChanged, UserRenamed
from accounts.models import FormerName, User
from accounts.queries.users import load_usernames
from accounts.sql import COPY_USERNAMES
from infra.api.errors import ValidationFailed
from infra.changes.append import append_change, append_changes
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import group_by_shard
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import fetch_all

log = structlog.get_logger()


def rename_account(account_id: int, username: str, now: datetime) -> str:
    """Returns the name as it is stored. Ids, posts and streams stay; an own former name may come
    back.

    The account shows the new name when this returns, if its shard can be reached. Safety: may be
    repeated. Raises: ValidationFailed, also for the name or former name of another account;
    AccountNotFound. Cost: six statements, and two on the shard.
    """
    wanted = username.lower()
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            user = lock_user(account_id)
            if user.username != wanted:
                _rename(user, wanted, now)
    except IntegrityError as error:
        fault = taken_fault(error)
        raise (ValidationFailed([fault]) if fault else error) from error
    return wanted


def _rename(user: User, wanted: str, now: datetime) -> None:
    former, user.username = user.username, wanted
    if faults := username_faults(user):
        raise ValidationFailed(faults)
    names = FormerName.objects.using(GLOBAL_ALIAS)
    names.filter(username=wanted, user=user).delete()
    user.save(using=GLOBAL_ALIAS, update_fields=["username"])
    names.create(username=former, user=user, renamed_at=now)
    append_change(GLOBAL_ALIAS, user.pk, UserRenamed())
    failpoint("accounts.before_renamed")
    log.info("account.renamed", account=user.pk, former=former, username=wanted)


def copy_usernames(account_ids: Iterable[int]) -> None:
    """Copies the names of users to the rows of their accounts. Caches follow by the change.

    A copy that comes late could bring an older name back, so the names are read again behind it: if
    they are others by then, they are copied too. Safety: idempotent. Cost: two queries; two
    statements a shard if a name differs.
    """
    ids = list(account_ids)
    names, copied = load_usernames(ids), None
    while names != copied:
        for alias, owned in group_by_shard(names).items():
            _copy(alias, {account_id: names[account_id] for account_id in owned})
        names, copied = load_usernames(ids), names


def _copy(alias: str, names: Mapping[int, str]) -> None:
    ids = sorted(names)
    with transaction.atomic(using=alias):
        changed = fetch_all(alias, COPY_USERNAMES, (ids, [names[i] for i in ids], ids))
        append_changes(alias, [(account_id, ProfileChanged()) for (account_id,) in changed])
