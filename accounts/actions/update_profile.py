"""Changes a profile: one transaction on the account's shard.

Stores the language that a person chose.

Takes a picture of a profile away or puts it back, for moderators.
"""

import msgspec
from django.db import transaction

from accounts.actions.create_rows import encode_object
from accounts.changes import ProfileChanged
from accounts.errors import AccountNotFound
from accounts.images.actions.use_image import replace_image
from accounts.images.types import Purpose
from accounts.models import DISPLAY_NAME_LENGTH, User
from accounts.texts.lengths import is_longer
from accounts.types import ProfileEdit
from infra.api.errors import Fault, ValidationFailed
from infra.changes.append import append_change
from infra.languages import is_language
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute

NOTE_LENGTH = 500
MOST_FIELDS = 4
FIELD_LENGTH = 255  # of a name, and of a value
# The row is the owner's lock. Updating it first gives the changes of one account one order.
UPDATE = """
UPDATE accounts_account SET version = version + 1,
    display_name = coalesce(%s, display_name), note = coalesce(%s, note),
    is_locked = coalesce(%s, is_locked), is_bot = coalesce(%s, is_bot),
    is_discoverable = coalesce(%s, is_discoverable), is_indexable = coalesce(%s, is_indexable),
    hides_collections = coalesce(%s, hides_collections),
    fields = coalesce(%s::jsonb, fields), default_privacy = coalesce(%s, default_privacy),
    default_sensitive = coalesce(%s, default_sensitive),
    default_language = coalesce(%s, default_language),
    default_quote_policy = coalesce(%s, default_quote_policy),
    home_replies = coalesce(%s, home_replies),
    avatar = coalesce(%s, avatar), header = coalesce(%s, header),
    service_object = coalesce(service_object || %s::jsonb, %s::jsonb, service_object)
WHERE id = %s
"""


def update_profile(account_id: int, edit: ProfileEdit) -> None:
    """Writes the fields that the edit sets. The cached profile follows inline, or by the drain.

    Raises: ValidationFailed, AccountNotFound; ImageNotFound for a picture that was removed since it
    was stored. Cost: two statements; two more for each picture.
    """
    check_profile_edit(edit)
    alias = shard_of(account_id)
    with transaction.atomic(using=alias):
        if not execute(alias, UPDATE, (*_columns(edit), account_id)):
            raise AccountNotFound
        _replace_pictures(alias, account_id, edit)
        append_change(alias, account_id, ProfileChanged())


def check_profile_edit(edit: ProfileEdit) -> None:
    """Raises: ValidationFailed."""
    faults = _edit_faults(edit)
    if faults:
        raise ValidationFailed(faults)


def _replace_pictures(alias: str, account_id: int, edit: ProfileEdit) -> None:
    for purpose, picture in ((Purpose.AVATAR, edit.avatar), (Purpose.HEADER, edit.header)):
        if picture is not None:
            replace_image(alias, account_id, purpose, picture.image_id)


def _columns(edit: ProfileEdit) -> tuple[object, ...]:
    """The new values in the order of the statement. None: the old value stays."""
    flags = edit.is_locked, edit.is_bot, edit.is_discoverable, edit.is_indexable
    hides = edit.hides_collections
    fields = None if edit.fields is None else msgspec.json.encode(edit.fields).decode()
    posts = edit.privacy, edit.sensitive, edit.language, edit.quote_policy
    files = [image and image.file_name for image in (edit.avatar, edit.header)]
    texts = edit.display_name, edit.note
    owned = [encode_object(edit.service_object)] * 2
    return (*texts, *flags, hides, fields, *posts, edit.home_replies, *files, *owned)


def display_name_faults(text: str) -> list[Fault]:
    return _length_faults("display_name", text, DISPLAY_NAME_LENGTH)


def _edit_faults(edit: ProfileEdit) -> list[Fault]:
    note_faults = _length_faults("note", edit.note or "", NOTE_LENGTH)
    texts = [text for field in edit.fields or () for text in (field.name, field.value)]
    field_faults = [
        fault for text in texts for fault in _length_faults("fields", text, FIELD_LENGTH)
    ]
    return [*display_name_faults(edit.display_name or ""), *note_faults, *field_faults[:1]]


def _length_faults(field: str, text: str, most: int) -> list[Fault]:
    if not is_longer(text, most):
        return []
    return [Fault(field, "ERR_TOO_LONG", f"is too long (maximum is {most} characters)")]


def choose_language(account_id: int, language: str) -> None:
    """For pages, mails and messages from now on. Empty: that of the browser; what is no language of
    ours is the same. One statement of the default database; may run twice."""
    known = language if is_language(language) else ""
    User.objects.filter(pk=account_id).update(language=known)


WRITE = "UPDATE accounts_account SET version = version + 1, {column} = %s WHERE id = %s"
_COLUMNS = {Purpose.AVATAR: "avatar", Purpose.HEADER: "header"}


def write_picture(alias: str, account_id: int, purpose: Purpose, file_name: str) -> None:
    """Sets the avatar or header to a file; empty: the account has the default one.

    Safety: in the caller's transaction, which changes the image. Two statements.
    """
    execute(alias, WRITE.format(column=_COLUMNS[purpose]), (file_name, account_id))
    append_change(alias, account_id, ProfileChanged())
