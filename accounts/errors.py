"""Errors of accounts."""

from collections.abc import Sequence

from infra.api.errors import NotFound, TidelineError


class AccountNotFound(NotFound):
    """No account has this id, or its row does not exist yet."""


class AccountPurged(TidelineError):
    """The account's data is deleted or being deleted, so it cannot be restored."""

    text = "This account is purged"


class PasswordReplaced(TidelineError):
    """Another request replaced the password after this one proved that it knew it."""

    status = 409
    text = "The password was replaced a moment ago. Sign in with the new one"


class PasswordsBusy(TidelineError):
    """Other hashes of passwords have all places of the machine. The password was not looked at."""

    status = 503
    text = "Too many people are signing in at the moment. Try again in a few seconds"
    headers = {"Retry-After": "3"}


class LinkEnded(TidelineError):
    """The link of a mail is wrong, was used, or is too old. The person can ask for another mail."""

    status = 410
    text = "This link does not work any more: it was used, or it is too old"


class LoginDisabled(TidelineError):
    """The account of the token is suspended. Mastodon's text, because clients know it."""

    status = 403
    text = "Your login is currently disabled"


class AccountProtected(TidelineError):
    """A service must not act for an account that moderates or operates the site."""

    status = 403
    text = "Services do not act for moderators and operators"


class UnknownObjectKind(NotFound):
    """No service has declared this kind of objects."""

    def __init__(self, names: Sequence[str]) -> None:
        known = f"they are {', '.join(names)}" if names else "none is declared yet"
        super().__init__(f"There is no such kind of objects: {known}")
