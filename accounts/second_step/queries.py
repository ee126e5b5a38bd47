"""What a person has for the second step. All on the default database, by the index of users."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential

from accounts.models import User


class SecondStep(NamedTuple):
    """`codes_left`: recovery codes that were not used."""

    app: TOTPDevice | None
    passkeys: Sequence[WebAuthnCredential]
    codes_left: int


def has_second_step(user_id: int) -> bool:
    """Whether signing in asks this user for more than the password. Cost: one query."""
    has = Q(Exists(TOTPDevice.objects.filter(user_id=OuterRef("pk"), confirmed=True)))
    has |= Q(Exists(WebAuthnCredential.objects.filter(user_id=OuterRef("pk"), confirmed=True)))
    return User.objects.filter(has, pk=user_id).exists()


def read_second_step(user_id: int) -> SecondStep:
    """Passkeys in the order in which they were added. Cost: three queries."""
    app = TOTPDevice.objects.filter(user_id=user_id, confirmed=True).first()
    passkeys = WebAuthnCredential.objects.filter(user_id=user_id).order_by("pk")
    codes_left = StaticToken.objects.filter(device__user_id=user_id).count()
    return SecondStep(app, list(passkeys), codes_left)


def proved_by(user: object) -> Device | None:
    """What this session proved the second step with. `user`: of a request, or any object."""
    device: Device | None = getattr(user, "otp_device", None)
    return device
