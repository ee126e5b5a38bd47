"""The third backend of `authenticate`: the proof of the second step.

So the sign-in guard counts wrong codes as it counts wrong passwords, and refuses before a code is
looked at. Django asks this backend only if it is given a proof, and the one for passwords only
without one. A device also waits longer after each failure from any address.
"""

from datetime import UTC, datetime
from math import ceil

from django.contrib.auth.backends import BaseBackend
from django.db import transaction
from django.http import HttpRequest
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import User
from accounts.second_step.codes import clean_code, is_of_app, stored_code
from accounts.second_step.passkeys import accept_passkey
from accounts.second_step.types import Code, Proof
from infra.api.errors import TooManyRequests
from infra.sharding.placement import GLOBAL_ALIAS


class SecondStepBackend(BaseBackend):
    def authenticate(  # type: ignore[override]
        self, request: HttpRequest, username: str, proof: Proof
    ) -> User | None:
        """The user with `otp_device`, what they proved it with. None for a wrong proof.

        Raises: TooManyRequests while the device waits. Cost: three queries.
        """
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            return None
        if isinstance(proof, Code):
            device = accept_code(user.pk, proof.text)
        else:
            device = accept_passkey(request, user, proof)
        vars(user)["otp_device"] = device
        return user if device else None


def accept_code(user_id: int, text: str) -> Device | None:
    """The app or the recovery codes that this code is of. The same code is not accepted again: the
    device's row is locked, and remembers the time step or has one code less.

    Raises: TooManyRequests.
    """
    code = clean_code(text)
    with transaction.atomic(using=GLOBAL_ALIAS):
        device = _lock_device(user_id, code)
        if device is None:
            return None
        _check_wait(device)
        return (
            device if device.verify_token(code if is_of_app(code) else stored_code(code)) else None
        )


def _lock_device(user_id: int, code: str) -> Device | None:
    model = TOTPDevice if is_of_app(code) else StaticDevice
    device: Device | None = (
        model.objects.select_for_update().filter(user_id=user_id, confirmed=True).first()
    )
    return device


def _check_wait(device: Device) -> None:
    is_allowed, why = device.verify_is_allowed()
    if not is_allowed:
        raise TooManyRequests(ceil((why["locked_until"] - datetime.now(UTC)).total_seconds()))
