"""The action that lets a person in again who lost their app, their passkeys and recovery codes."""

from collections.abc import Sequence

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User
from accounts.second_step.actions.remove_device import reset_second_step
from infra.admin.reasons import ReasonRequiredAdmin
from infra.sharding.placement import GLOBAL_ALIAS


class SecondStepAdmin(ReasonRequiredAdmin):
    """For the list of users. The admin history says who did it, and why."""

    actions: Sequence[str] = ("reset_second_steps",)

    def has_reset_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("otp_totp.delete_totpdevice")

    @admin.action(description="Reset the second step, and sign out", permissions=["reset"])
    def reset_second_steps(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Not one's own: that is in the settings, where it needs the second step. Those of
        superusers only by a superuser, or an operator with a password of theirs would be one.
        """
        reason = self.reason_of(request)
        if not reason:
            return
        allowed = queryset.exclude(pk=request.user.pk or 0)
        if not request.user.is_superuser:
            allowed = allowed.exclude(is_superuser=True)
        chosen, users = queryset.count(), list(allowed)
        reset = sum(self._reset(request, user, reason) for user in users)
        self.message_user(request, f"{reset} reset: {reason}")
        if len(users) < chosen:
            refused = "Not reset: your own (see Settings), and those of superusers"
            self.message_user(request, refused, messages.ERROR)

    def _reset(self, request: HttpRequest, user: User, reason: str) -> bool:
        """The history is written in the transaction of the reset."""
        with transaction.atomic(using=GLOBAL_ALIAS):
            is_reset = reset_second_step(user.pk)
            if is_reset:
                self.log_change(request, user, f"Second step reset: {reason}")
        return is_reset
