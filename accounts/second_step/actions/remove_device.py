"""Ends parts of a user's second step, or all of it."""

from django.db import transaction
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential, WebAuthnUserHandle

from accounts.actions.change_password import end_sign_ins
from accounts.actions.lock_user import lock_user
from accounts.second_step.queries.devices import has_second_step
from infra.sharding.placement import GLOBAL_ALIAS

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
