"""Admin actions that need a reason."""

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.http import HttpRequest


class ReasonForm(ActionForm):
    reason = forms.CharField(required=False, max_length=200)


class ReasonRequiredAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Its actions do nothing without a reason, and write the reason to the admin history."""

    action_form = ReasonForm

    def reason_of(self, request: HttpRequest) -> str:
        """The given reason. Empty if there is none; then the operator sees an error."""
        reason = request.POST.get("reason", "").strip()
        if not reason:
            self.message_user(request, "Nothing done: give a reason.", messages.ERROR)
        return reason
