"""Questions to the browser about passkeys, and the checks of its answers, by django-otp-webauthn.

A question is asked once: the caller forgets its state before it checks the answer.
"""

import json
from typing import Any

from django.http import HttpRequest
from django_otp_webauthn.exceptions import OTPWebAuthnApiError
from django_otp_webauthn.helpers import WebAuthnHelper
from django_otp_webauthn.models import WebAuthnCredential
from webauthn.helpers.exceptions import WebAuthnException

from accounts.models import User
from accounts.second_step.errors import PasskeyRefused
from accounts.second_step.types import PasskeyAnswer, PasskeyQuestion

# An answer has two to four KB. The libraries read all of it before they check anything.
MOST_CHARACTERS = 32_768
# What the libraries raise for an answer that is broken, made up, or of another question. JSON of
# thousands of lists inside each other is a RecursionError.
_REFUSALS = (
    *(OTPWebAuthnApiError, WebAuthnException, ValueError, TypeError, LookupError),
    RecursionError,
)


def ask_for_new_passkey(request: HttpRequest, user: User) -> PasskeyQuestion:
    """Writes the user's handle once. Cost: two queries."""
    options, state = WebAuthnHelper(request).register_begin(user=user)
    return PasskeyQuestion(json.dumps(options), state)


def ask_for_passkey(request: HttpRequest, user: User) -> PasskeyQuestion:
    """Cost: one query."""
    helper = WebAuthnHelper(request)
    options, state = helper.authenticate_begin(user=user, require_user_verification=False)
    return PasskeyQuestion(json.dumps(options), state)


def save_passkey(request: HttpRequest, user: User, answer: PasskeyAnswer) -> WebAuthnCredential:
    """The stored passkey. Call it in a transaction. Raises: PasskeyRefused."""
    try:
        return WebAuthnHelper(request).register_complete(
            user=user, state=answer.state, data=_decode(answer.text)
        )
    except _REFUSALS:
        raise PasskeyRefused from None


def accept_passkey(
    request: HttpRequest, user: User, answer: PasskeyAnswer
) -> WebAuthnCredential | None:
    """The user's passkey that signed the question, None for any other answer. Two queries."""
    try:
        passkey: WebAuthnCredential = WebAuthnHelper(request).authenticate_complete(
            user=user, state=answer.state, data=_decode(answer.text)
        )
    except _REFUSALS:
        return None
    return passkey if passkey.confirmed else None


def _decode(text: str) -> dict[str, Any]:
    """Raises: ValueError."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError("too long")
    decoded = json.loads(text)
    if not isinstance(decoded, dict):
        raise ValueError("no object")
    return decoded
