"""Adds an authenticator app or a passkey to a user's second step."""

from django.db import transaction
from django.http import HttpRequest
from django_otp.models import Device
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential

from accounts.actions.lock_user import lock_user
from accounts.models import User
from accounts.second_step.errors import TooManyPasskeys
from accounts.second_step.passkeys import save_passkey
from accounts.second_step.types import PasskeyAnswer
from infra.sharding.placement import GLOBAL_ALIAS

MOST_PASSKEYS = 20
APP_NAME = "Authenticator app"


def add_app(user: User, key: str, code: str) -> Device | None:
    """The app, which replaces the user's app before it. None if `code` is not one of it now.

    `key`: 20 bytes in hexadecimal digits, which only the app has been shown. The code is used up.
    One transaction, under the user's lock. Raises: AccountNotFound.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user.pk)
        app = TOTPDevice(user=user, name=APP_NAME, key=key)
        if not app.verify_token(code):
            # The library has counted this failure in the row, which it wrote for that.
            app.delete()
            return None
        TOTPDevice.objects.filter(user=user).exclude(pk=app.pk).delete()
        return app


def add_passkey(request: HttpRequest, user: User, answer: PasskeyAnswer, name: str) -> Device:
    """The passkey. One transaction, under the user's lock. Raises: PasskeyRefused (also for one
    that the site has), TooManyPasskeys, AccountNotFound.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user.pk)
        if WebAuthnCredential.objects.filter(user=user).count() >= MOST_PASSKEYS:
            raise TooManyPasskeys
        passkey = save_passkey(request, user, answer)
        passkey.name = name
        passkey.save(update_fields=["name"])
        return passkey
