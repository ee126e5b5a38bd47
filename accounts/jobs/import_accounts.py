"""Creates the accounts of another system, without passwords."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import Field

from accounts.actions.update_profile import MOST_FIELDS, check_profile_edit
from accounts.changes import UserCreated
from accounts.identities.actions.provision_account import create_bound_users
from accounts.identities.queries import load_account_ids
from accounts.models import User
from accounts.queries.users import find_taken_emails
from accounts.types import ProfileEdit, ProfileField
from infra.api.errors import ValidationFailed
from infra.importing.errors import LineRefused
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import AccountRecord

TAKEN = "the username or the e-mail address is taken"
NumberedAccounts = Sequence[NumberedRecord[AccountRecord]]


def write_accounts(records: NumberedAccounts, now: datetime, dry_run: bool) -> WrittenBatch:
    """Creates the accounts whose external ids are not bound yet; others stay as they are.

    Safety: idempotent; a user, its binding and the change that creates the account are one
    transaction. Cost: as `create_bound_users`, and two queries.
    """
    known = load_account_ids((record.id for _, record in records))
    new: dict[str, NumberedRecord[AccountRecord]] = {}
    for numbered in records:
        if numbered.record.id not in known:
            new.setdefault(numbered.record.id, numbered)
    users, refused = _check_all(list(new.values()), now)
    emails = {i: new[i].record.email for i in users if new[i].record.email}
    created = _create(users, emails, dry_run)
    taken = {new[i].number: TAKEN for i in users.keys() - created.keys()}
    return WrittenBatch(len(created), refused | taken)


def _create(
    users: Mapping[str, UserCreated], emails: Mapping[str, str], dry_run: bool
) -> Mapping[str, int]:
    """The ids of the new accounts; of a dry run the ids are 0."""
    taken = find_taken_emails(emails.values())
    free = {i: user for i, user in users.items() if emails.get(i, "").lower() not in taken}
    if dry_run:
        return dict.fromkeys(free, 0)
    try:
        return create_bound_users(free, emails)
    except IntegrityError:  # another process bound one of them: now it is known
        known = load_account_ids(free)
        left = {i: user for i, user in free.items() if i not in known}
        return known | create_bound_users(left, emails)


def _check_all(
    records: NumberedAccounts, now: datetime
) -> tuple[dict[str, UserCreated], dict[int, str]]:
    """The users by external id, and the reasons by line. A username comes once."""
    users: dict[str, UserCreated] = {}
    refused: dict[int, str] = {}
    names: set[str] = set()
    for number, record in records:
        try:
            user = _user_of(record, now)
        except (LineRefused, ValidationFailed, ValidationError) as error:
            messages = error.messages if isinstance(error, ValidationError) else [str(error)]
            refused[number] = "; ".join(messages)
            continue
        if user.username in names:
            refused[number] = TAKEN
            continue
        names.add(user.username)
        users[record.id] = user
    return users, refused


def _user_of(record: AccountRecord, now: datetime) -> UserCreated:
    """Raises: LineRefused, ValidationFailed, ValidationError."""
    created_at = record.created_at or now
    if created_at > now:
        raise LineRefused("created_at is in the future")
    if len(record.fields) > MOST_FIELDS:
        raise LineRefused(f"a profile has at most {MOST_FIELDS} fields")
    fields = tuple(ProfileField(field.name, field.value) for field in record.fields)
    check_profile_edit(ProfileEdit(record.display_name, record.note, fields=fields))
    if not record.username:
        raise LineRefused("the username is empty")
    _field("username").run_validators(record.username.lower())
    if record.email:
        _field("email").run_validators(record.email)
    return UserCreated(
        record.username.lower(),
        record.display_name,
        created_at.astimezone(UTC),
        record.note,
        record.locked,
        record.bot,
        record.discoverable,
        fields,
    )


def _field(name: str) -> "Field[Any, Any]":
    """A column of users."""
    return cast("Field[Any, Any]", User._meta.get_field(name))
