"""New recovery codes, in place of those before."""

from django.db import transaction
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken

from accounts.actions.lock_user import lock_user
from accounts.models import User
from accounts.second_step.codes import new_recovery_codes, stored_code
from accounts.second_step.errors import SecondStepMissing
from accounts.second_step.queries.devices import has_second_step
from infra.sharding.placement import GLOBAL_ALIAS

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
