"""What django-axes counts of guessing, and, beside it, one address that tries many names."""

from collections.abc import Mapping
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum


class SignInHandler(AxesDatabaseHandler):
    """A name is locked for an address by its own failures, and every name by those of the address:
    a few common passwords, tried with one name after the other, would lock none of them."""

    def get_failures(self, request: Any, credentials: Mapping[str, str] | None = None) -> int:
        """With the name from the address; as many as lock it once the address used up its own.

        Cost: one query by index more.
        """
        failures: int = super().get_failures(request, credentials)
        is_spraying = failures_from(request) >= settings.SIGN_IN_FAILURES_PER_ADDRESS
        return max(failures, settings.AXES_FAILURE_LIMIT) if is_spraying else failures


def failures_from(request: Any) -> int:
    """Of the address of this request, with whatever names; 0 where it has none."""
    if request.axes_ip_address is None:
        return 0
    since = get_cool_off_threshold(request)
    rows = AccessAttempt.objects.filter(ip_address=request.axes_ip_address, attempt_time__gte=since)
    count: int | None = rows.aggregate(count=Sum("failures_since_start"))["count"]
    return count or 0
