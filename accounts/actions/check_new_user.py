"""Validates a sign-up. Faults have the texts of Mastodon."""

from collections.abc import Collection, Iterable

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from accounts.actions.update_profile import display_name_faults
from accounts.models import User
from accounts.types import NewUser
from accounts.usernames import is_reserved
from infra.api.errors import Fault

PASSWORD_LEAST, PASSWORD_LENGTH = 8, 256
CODES = {
    "blank": ("ERR_BLANK", "can't be blank"),
    "unique": ("ERR_TAKEN", "has already been taken"),
    "max_length": ("ERR_TOO_LONG", "is too long (maximum is {limit_value} characters)"),
    "password_too_short": ("ERR_TOO_SHORT", "is too short (minimum is {min_length} characters)"),
    "password_too_common": ("ERR_INVALID", "is too common"),
    "password_entirely_numeric": ("ERR_INVALID", "consists of digits only"),
    "password_too_similar": ("ERR_INVALID", "is too similar to the {verbose_name}"),
}
RESERVED = Fault("username", "ERR_RESERVED", "is reserved")
CONSTRAINTS = {
    "accounts_user_username_key": "username",
    "accounts_formername_pkey": "username",
    "user_email_unique": "email",
}


def new_user_faults(new: NewUser, user: User) -> list[Fault]:
    """All faults of a sign-up. `user`: the row that it would create. Four queries."""
    return [
        *_email_faults(new),
        *_reserved_faults(new),
        *_field_faults(user),
        *([] if new.password is None else password_faults(new.password, user)),
        *display_name_faults(new.display_name),
        *([] if new.agreement else [Fault("agreement", "ERR_ACCEPTED", "must be accepted")]),
    ]


def taken_fault(error: IntegrityError) -> Fault | None:
    """The fault if another sign-up took the username or address first; None for another error."""
    diagnosis = getattr(error.__cause__, "diag", None)
    field = CONSTRAINTS.get(getattr(diagnosis, "constraint_name", None) or "")
    return Fault(field, *CODES["unique"]) if field else None


def _email_faults(new: NewUser) -> list[Fault]:
    is_needed = new.password is not None and not new.email
    return [Fault("email", *CODES["blank"])] if is_needed else []


def _reserved_faults(new: NewUser) -> list[Fault]:
    if new.is_superuser or new.is_by_operator or not is_reserved(new.username):
        return []
    return [RESERVED]


def username_faults(user: User) -> list[Fault]:
    """The faults of the new username of a row. One query."""
    reserved = [RESERVED] if is_reserved(user.username) else []
    others = {field.name for field in User._meta.fields} - {"username"}
    return [*reserved, *_field_faults(user, others)]


def _field_faults(user: User, unchecked: Collection[str] = ("password",)) -> list[Fault]:
    faults: list[Fault] = []
    try:
        user.full_clean(exclude=unchecked)
    except ValidationError as error:
        for field, errors in error.error_dict.items():
            # The constraint on lower(email) is the only one that belongs to no field.
            faults += _faults("email" if field == "__all__" else field, errors)
    return faults


def email_faults(email: str, user: User) -> list[Fault]:
    """The faults of an address that `user` wants to have. No query: another account may have it."""
    if not email:
        return [Fault("email", *CODES["blank"])]
    if email.lower() == user.email.lower():
        return [Fault("email", "ERR_TAKEN", "is your address already")]
    try:
        User._meta.get_field("email").run_validators(email)
    except ValidationError as error:
        return _faults("email", error.error_list)
    return []


def password_faults(password: str, user: User) -> list[Fault]:
    """The faults of a password that `user` wants to have. No query."""
    if not password:
        return [Fault("password", *CODES["blank"])]
    if len(password) > PASSWORD_LENGTH:
        code, description = CODES["max_length"]
        return [Fault("password", code, description.format(limit_value=PASSWORD_LENGTH))]
    try:
        validate_password(password, user)
    except ValidationError as error:
        return _faults("password", error.error_list)
    return []


def _faults(field: str, errors: Iterable[ValidationError]) -> list[Fault]:
    return [_fault(field, error) for error in errors]


def _fault(field: str, error: ValidationError) -> Fault:
    if error.code in CODES:
        code, description = CODES[error.code]
        return Fault(field, code, description.format(**(error.params or {})))
    if field == "email":
        # The constraint on lower(email) has no code of its own.
        return Fault(field, *CODES["unique"]) if error.code is None else _invalid(field)
    return Fault(field, "ERR_INVALID", error.messages[0])


def _invalid(field: str) -> Fault:
    return Fault(field, "ERR_INVALID", "is invalid")
