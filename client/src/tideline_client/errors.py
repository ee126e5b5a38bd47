"""What a call can raise. Every error is a `TidelineError`."""

from typing import Any


class TidelineError(Exception):
    """A call did not do what it was asked for.

    `request_id` is in the logs of Tideline too: name it when you ask its operator.
    """

    def __init__(self, text: str, request_id: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.request_id = request_id

    def __str__(self) -> str:
        return f"{self.text} (request {self.request_id})" if self.request_id else self.text


class Unreachable(TidelineError):
    """No answer came: no connection, or one that broke. A write may have been done."""


class DeadlineExceeded(TidelineError):
    """The time of the call is over, here or at Tideline (504). A write may have been done."""


class UnexpectedAnswer(TidelineError):
    """The answer is not Tideline's, or has another shape: is the address right?"""


class Refused(TidelineError):
    """Tideline answered with an error. `status`: of HTTP. `details`: by field, often empty."""

    def __init__(
        self, status: int, text: str, request_id: str = "", details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(text, request_id)
        self.status = status
        self.details = details or {}

    def __str__(self) -> str:
        return f"{self.status}: {super().__str__()}"


class TokenRefused(Refused):
    """401: the token is missing, wrong, expired or revoked. Get another one."""


class NotAllowed(Refused):
    """403: the token lacks a scope, or the account is frozen or suspended."""


class NotFound(Refused):
    """404: it does not exist, or the account may not see it. Treat it as deleted."""


class PositionGone(Refused):
    """410: events behind this position may be gone. Read everything again, and begin with now. Of a
    post that is published again with its `idempotency_key`: it was deleted in the meantime."""


class InvalidRequest(Refused):
    """400, 413, 415, 422: a parameter is wrong. The text names it."""


class Postponed(Refused):
    """Try again after `retry_after_s` seconds. The client did so while its deadline allowed it."""

    def __init__(
        self,
        status: int,
        text: str,
        request_id: str = "",
        details: dict[str, Any] | None = None,
        retry_after_s: float = 1.0,
    ) -> None:
        super().__init__(status, text, request_id, details)
        self.retry_after_s = retry_after_s


class QuotaUsedUp(Postponed):
    """429: the token has made too many requests."""


class Unavailable(Postponed):
    """503: a store of Tideline does not answer. 502: a proxy does not reach Tideline."""
