"""Errors that the caller can act on; infra.api.answers turns them into HTTP."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple


class TidelineError(Exception):
    """A fact that the caller can act on. `status`: the HTTP code. The client sees the text."""

    status: ClassVar[int] = 422
    text: ClassVar[str] = "The request cannot be processed"
    headers: Mapping[str, str] = {}

    def __init__(self, text: str | None = None) -> None:
        super().__init__(text or self.text)

    def body(self) -> dict[str, object]:
        """The JSON of the answer."""
        return {"error": str(self)}


class NotFound(TidelineError):
    status = 404
    text = "Record not found"


class NotAllowed(TidelineError):
    """Mastodon's text for an action that is not allowed; it does not say why."""

    status = 403
    text = "This action is not allowed"


class AccountFrozen(TidelineError):
    """Moderators allow the account to read, but not to write. Only they can end that."""

    status = 403
    text = "Your account is frozen: you can read, but not write"


class InvalidCursor(TidelineError):
    status = 422
    text = "Cursor is not valid for this list"


class InvalidRequest(TidelineError):
    status = 422


class TokenInvalid(TidelineError):
    """A token is missing where one is required, or it is unknown, revoked or expired."""

    status = 401
    text = "The access token is invalid"
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class UserRequired(TidelineError):
    """An application used its own token for something that needs a user."""

    status = 422
    text = "This method requires an authenticated user"


class ScopeMissing(TidelineError):
    """`needed`: scopes, each of which would be enough."""

    status = 403
    text = "This action is outside the authorized scopes"

    def __init__(self, *needed: str) -> None:
        super().__init__(f"{self.text}: it needs {' or '.join(needed)}")
        challenge = f'Bearer error="insufficient_scope", scope="{needed[0]}"'
        self.headers = {"WWW-Authenticate": challenge}


class MethodNotAllowed(TidelineError):
    """The route has other methods only."""

    status = 405
    text = "Method not allowed"

    def __init__(self, allowed: Iterable[str]) -> None:
        super().__init__()
        self.headers = {"Allow": ", ".join(allowed)}


class TooManyRequests(TidelineError):
    """A quota is used up. `Retry-After` has the seconds until the next period."""

    status = 429
    text = "Too many requests"

    def __init__(self, wait_s: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.headers = {**(headers or {}), "Retry-After": str(wait_s)}


class Fault(NamedTuple):
    """An error in one field. `code` is one of Mastodon's ERR_ names."""

    field: str
    code: str
    description: str

    def __str__(self) -> str:
        return f"{self.field.replace('_', ' ').capitalize()} {self.description}"


class ValidationFailed(TidelineError):
    """All errors of a form together."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("Validation failed: " + ", ".join(map(str, faults)))
        self.faults = faults

    def body(self) -> dict[str, object]:
        details: dict[str, list[dict[str, str]]] = {}
        for field, code, description in self.faults:
            details.setdefault(field, []).append({"error": code, "description": description})
        return super().body() | {"details": details}
