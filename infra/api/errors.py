"""Errors as facts the caller can act upon; infra.api.answers turns them into HTTP."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple


class TidelineError(Exception):
    """A fact the caller can act upon. `status` is its HTTP code; the text goes out as it is."""

    status: ClassVar[int] = 422
    text: ClassVar[str] = "The request cannot be processed"
    headers: Mapping[str, str] = {}

    def __init__(self, text: str | None = None) -> None:
        super().__init__(text or self.text)

    def body(self) -> dict[str, object]:
        """What the caller gets as JSON."""
        return {"error": str(self)}


class NotFound(TidelineError):
    status = 404
    text = "Record not found"


class NotAllowed(TidelineError):
    """Mastodon's words for what one may not do; they do not say why."""

    status = 403
    text = "This action is not allowed"


class AccountFrozen(TidelineError):
    """Moderators let the account read, but not write. Only they can end that."""

    status = 403
    text = "Your account is frozen: you can read, but not write"


class LoginDisabled(TidelineError):
    """Moderators suspended whose token it is. Mastodon's words, for clients that know them."""

    status = 403
    text = "Your login is currently disabled"


class InvalidCursor(TidelineError):
    status = 422
    text = "Cursor is not valid for this list"


class InvalidRequest(TidelineError):
    status = 422


class TokenInvalid(TidelineError):
    """No token where one is needed, or one that is unknown, ended or expired."""

    status = 401
    text = "The access token is invalid"
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class UserRequired(TidelineError):
    """An application asked with its own token for what only a user can have."""

    status = 422
    text = "This method requires an authenticated user"


class ScopeMissing(TidelineError):
    status = 403
    text = "This action is outside the authorized scopes"


class TooManyRequests(TidelineError):
    """What may be asked for a while is used up. `Retry-After` leads to where it begins anew."""

    status = 429
    text = "Too many requests"

    def __init__(self, wait_s: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.headers = {**(headers or {}), "Retry-After": str(wait_s)}


class Fault(NamedTuple):
    """What is wrong with one field. `code` is one of Mastodon's ERR_ names."""

    field: str
    code: str
    description: str

    def __str__(self) -> str:
        return f"{self.field.replace('_', ' ').capitalize()} {self.description}"


class ValidationFailed(TidelineError):
    """Everything that is wrong with a form, together."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("Validation failed: " + ", ".join(map(str, faults)))
        self.faults = faults

    def body(self) -> dict[str, object]:
        details: dict[str, list[dict[str, str]]] = {}
        for field, code, description in self.faults:
            details.setdefault(field, []).append({"error": code, "description": description})
        return super().body() | {"details": details}
