"""Changes of a user's second step.

Adds an authenticator app or a passkey to a user's second step.

Ends parts of a user's second step, or all of it.

New recovery codes, in place of those before.
"""

from django.db import transaction
from django.http import HttpRequest
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential, WebAuthnUserHandle

from accounts.actions.change_password import end_sign_ins
from accounts.actions.lock_user import lock_user
from accounts.models import User
from accounts.second_step.codes import new_recovery_codes, stored_code
from accounts.second_step.errors import SecondStepMissing, TooManyPasskeys
from accounts.second_step.passkeys import save_passkey
from accounts.second_step.queries import has_second_step
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


_MODELS = (TOTPDevice, WebAuthnCredential, WebAuthnUserHandle, StaticDevice)


def remove_app(user_id: int) -> None:
    """Safety: idempotent; one transaction. Raises: AccountNotFound."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user_id)
        TOTPDevice.objects.filter(user_id=user_id).delete()
        _drop_codes_without_step(user_id)


def remove_passkey(user_id: int, passkey_id: int) -> None:
    """Safety: idempotent; one transaction. Raises: AccountNotFound."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user_id)
        WebAuthnCredential.objects.filter(user_id=user_id, pk=passkey_id).delete()
        _drop_codes_without_step(user_id)


def reset_second_step(user_id: int) -> bool:
    """Ends the user's whole second step and all their sessions. False: there was none.

    A person who lost their devices signs in with the password only and adds new ones. One
    transaction: no session of before sees the account without its second step. Raises:
    AccountNotFound.
    """
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user_id)
        is_reset = has_second_step(user_id)
        delete_second_step(user_id)
        if is_reset:
            end_sign_ins(user_id)
    return is_reset


def delete_second_step(user_id: int) -> None:
    """Deletes all rows. Call it under the user's lock. Cost: a few short statements."""
    for model in _MODELS:
        model.objects.filter(user_id=user_id).delete()


def _drop_codes_without_step(user_id: int) -> None:
    """Recovery codes alone would be a second step that nothing asks for."""
    if not has_second_step(user_id):
        StaticDevice.objects.filter(user_id=user_id).delete()


CODES_NAME = "Recovery codes"


def replace_codes(user: User) -> list[str]:
    """The new codes. Only their checksums are stored, so the person sees them this once.

    The row of the device stays, and with it what it counts: new codes give no new tries. One
    transaction, under the user's lock. Raises: SecondStepMissing, AccountNotFound.
    """
    codes = new_recovery_codes()
    with transaction.atomic(using=GLOBAL_ALIAS):
        lock_user(user.pk)
        if not has_second_step(user.pk):
            raise SecondStepMissing
        device, _ = StaticDevice.objects.get_or_create(user=user, defaults={"name": CODES_NAME})
        device.token_set.all().delete()
        rows = [StaticToken(device=device, token=stored_code(code)) for code in codes]
        StaticToken.objects.bulk_create(rows)
    return codes
