"""The way back: from accounts of Tideline, as events and posts name them, to users."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError

from tideline_client.contrib.django.connection import tideline
from tideline_client.contrib.django.models import AccountSync

# A statement must not have too many parameters, and Tideline finds so many at once.
BATCH = 1_000


def find_user(account_id: str) -> Any | None:
    """The user of an account. None: it is none of this product, or its user is gone.

    Raises: TidelineError. Cost: as `load_users`.
    """
    return load_users([account_id]).get(str(account_id))


def load_users(account_ids: Iterable[str]) -> dict[str, Any]:
    """Users by account id; accounts without a user are left out.

    Raises: TidelineError. Cost: two queries for each 1,000 accounts; and a call for those of which
    the product does not know yet that they are its own.
    """
    wanted = [*dict.fromkeys(map(str, account_ids))]
    users: dict[str, Any] = {}
    for start in range(0, len(wanted), BATCH):
        users |= _load_batch(wanted[start : start + BATCH])
    return users


def _load_batch(account_ids: list[str]) -> dict[str, Any]:
    rows = AccountSync.objects.filter(account_id__in=account_ids)
    ids = dict(rows.values_list("account_id", "external_id"))
    missing = [each for each in account_ids if each not in ids]
    if missing:
        known = tideline().provisioning.find(account_ids=missing)
        ids |= {each.account_id: each.external_id for each in known}
    by_external_id = load_users_by_external_id(ids.values())
    return {each: user for each, key in ids.items() if (user := by_external_id.get(key))}


def load_users_by_external_id(external_ids: Iterable[str]) -> dict[str, Any]:
    """Users by the external ids that events and accounts have. Ids of no user are left out: another
    product may have made them. A query."""
    users = get_user_model()
    keys = {}
    for each in external_ids:
        try:
            keys[users._meta.pk.to_python(each)] = each
        except ValidationError:
            continue
    rows = users._default_manager.filter(pk__in=keys)
    return {keys[user.pk]: user for user in rows}
