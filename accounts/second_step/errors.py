"""Errors of the second step."""

from infra.api.errors import TidelineError


class PasskeyRefused(TidelineError):
    """The browser's answer is broken, of another site, or of a question that was not asked."""

    text = "This passkey was not accepted. Try again"


class TooManyPasskeys(TidelineError):
    text = "You have as many passkeys as you can have. Remove one first"


class SecondStepMissing(TidelineError):
    """Recovery codes replace an app or a passkey, so they need one."""

    text = "Add an app or a passkey first"
