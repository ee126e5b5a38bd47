"""Creates many things of a service at once, and binds the external id of one that lost it."""

from collections.abc import Mapping
from datetime import datetime

from django.db import IntegrityError

from accounts.actions.update_profile import check_profile_edit
from accounts.changes import UserCreated
from accounts.identities.actions.provision_account import create_bound_users
from accounts.identities.models import ExternalIdentity
from accounts.identities.queries import load_by_external_id
from accounts.identities.types import OBJECTS, WantedAccount, id_of_object
from accounts.types import ServiceObject
from accounts.usernames import username_of_object
from infra.api.errors import ValidationFailed


def create_objects(kind: str, wanted: Mapping[str, WantedAccount], now: datetime) -> set[str]:
    """Creates those that are new and whose names are made here. Returns their external ids.

    `wanted`: by external id, all of this kind. The others are for `provision_account`, which also
    says what is wrong with one. Killed, it created all or none. Safety: of several calls at once
    one creates a thing. Cost: one query, and as `create_bound_users`.
    """
    issuer = f"{OBJECTS}{kind}"
    known = load_by_external_id(wanted, issuer)
    new = {i: _user_of(each, now) for i, each in wanted.items() if i not in known}
    users = {i: user for i, user in new.items() if user is not None}
    try:
        return set(create_bound_users(users, {}, issuer)) if users else set()
    except IntegrityError:  # another request has just created one of them
        return set()


def _user_of(wanted: WantedAccount, now: datetime) -> UserCreated | None:
    """None if a name was sent, which another account may have, or if something is wrong."""
    edit = wanted.edit
    owned = edit.service_object
    if wanted.username is not None or owned is None or not edit.display_name:
        return None
    try:
        check_profile_edit(edit)
    except ValidationFailed:
        return None
    return _created(owned, edit.display_name, edit.note or "", bool(edit.is_locked), now)


def _created(
    owned: ServiceObject, title: str, note: str, is_locked: bool, now: datetime
) -> UserCreated:
    return UserCreated(
        username_of_object(owned.kind),
        title,
        now,
        note=note,
        is_locked=is_locked,
        service_object=owned,
    )


def bind_again(account_id: int, owned: ServiceObject) -> None:
    """In the caller's transaction. If another account has the id by now, it keeps it."""
    identity = id_of_object(owned.kind, owned.external_id)
    row = ExternalIdentity(**identity._asdict(), user_id=account_id)
    ExternalIdentity.objects.bulk_create([row], ignore_conflicts=True)
