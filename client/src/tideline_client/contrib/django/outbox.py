"""Writes down that Tideline has to learn about a user, in the transaction that saves or
deletes the user.

So there is no moment at which the user is saved and the work is forgotten. `drain` does the work.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS, models, transaction
from django.db.models.signals import post_delete, post_save
from django.utils.timezone import now

from tideline_client.contrib.django.models import AccountSync
from tideline_client.contrib.django.profiles import external_id_of

BATCH = 500
# A sign-in writes these.
NOT_SHOWN = frozenset({"last_login", "password"})


def request_sync(user: Any, using: str | None = None) -> None:
    """Tideline gets what the user is now, soon. Safety: call it in the user's transaction.

    The app calls it after each `save()` of a user. Call it yourself after `update()`,
    `bulk_create()`, and for changes of other models that the profile is made of.
    Cost: two statements.
    """
    _write(external_id_of(user), using or user._state.db or DEFAULT_DB_ALIAS, _due_now())


def request_deletion(user: Any, using: str | None = None) -> None:
    """The user's account at Tideline is deleted, soon. Safety: call it in the transaction that
    deletes the user.

    The app calls it after each `delete()`, of querysets too. Call it yourself before SQL of your
    own that deletes users. Cost: two statements.
    """
    alias = using or user._state.db or DEFAULT_DB_ALIAS
    _write(external_id_of(user), alias, _due_now(is_deleted=True))


def request_sync_of_all(using: str = DEFAULT_DB_ALIAS) -> int:
    """Writes down all users, those too that were saved without `save()`. Returns how many.

    Cost: two statements for each 500 users. It can be killed and begun again.
    """
    count = 0
    for ids in _batches_of_ids(using):
        with transaction.atomic(using=using):
            _add_rows(ids, using)
            AccountSync.objects.using(using).filter(external_id__in=ids).update(**_due_now())
        count += len(ids)
    return count


def request_sync_of_missing(using: str = DEFAULT_DB_ALIAS) -> None:
    """Writes down the users that have no row, such as those that are older than the app.

    Cost: a statement for each 500 users of the product.
    """
    for ids in _batches_of_ids(using):
        _add_rows(ids, using)


def _due_now(is_deleted: bool = False) -> dict[str, Any]:
    change = uuid4().hex
    return {
        "is_deleted": is_deleted, "due_at": now(), "change": change, "failures": 0, "error": "",
    }  # fmt: skip


def _write(external_id: str, alias: str, wanted: dict[str, Any]) -> None:
    with transaction.atomic(using=alias):
        rows = AccountSync.objects.using(alias)
        rows.update_or_create(external_id=external_id, defaults=wanted)


def _add_rows(ids: Sequence[str], using: str) -> None:
    rows = [AccountSync(external_id=each, change=uuid4().hex) for each in ids]
    AccountSync.objects.using(using).bulk_create(rows, ignore_conflicts=True)


def _batches_of_ids(using: str) -> Iterator[list[str]]:
    users = get_user_model()._default_manager.using(using).order_by("pk").only("pk")
    everyone = users.iterator(BATCH)
    while batch := [external_id_of(user) for user in islice(everyone, BATCH)]:
        yield batch


def connect() -> None:
    """Of `AppConfig.ready`."""
    post_save.connect(_saved, dispatch_uid="tideline.sync")
    # A receiver for all models would make each deletion of the product slower: Django loads what it
    # deletes if there is one.
    for model in apps.get_models():
        if issubclass(model, get_user_model()):
            post_delete.connect(_deleted, sender=model, dispatch_uid=f"tideline.{model.__name__}")


def _saved(
    instance: models.Model,
    using: str,
    raw: bool,
    update_fields: frozenset[str] | None,
    **_: object,
) -> None:
    """Also of a proxy of the user's model. Fixtures (`raw`) may come before the table is there."""
    is_shown = update_fields is None or not update_fields <= NOT_SHOWN
    if isinstance(instance, get_user_model()) and not raw and is_shown:
        request_sync(instance, using)


def _deleted(instance: models.Model, using: str, **_: object) -> None:
    """Inside the transaction of the deletion, where the user still has the primary key."""
    request_deletion(instance, using)
