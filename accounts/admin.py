"""Applications, tokens and the sign-in guard in the admin: mostly read-only; actions need a reason.

Users are in moderation/admin/users.py, because their page shows what moderators decided.
"""

from datetime import UTC, datetime
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from oauth2_provider.models import get_grant_model

from accounts.actions.tokens import delete_application, end_tokens
from accounts.models import AccessToken, Application, IDToken, RefreshToken
from infra.admin.keyset import KeysetAdmin, ReadOnlyKeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin
from infra.api.addresses import network_of

# The toolkit's admin of these does not end cached tokens, or the model is unused.
for _model in (Application, AccessToken, RefreshToken, IDToken, get_grant_model()):
    admin.site.unregister(_model)
# The guard's own admin counts rows, searches without an index, and shows forms as they were sent.
for _model in (AccessAttempt, AccessLog, AccessFailureLog):
    admin.site.unregister(_model)
# These show keys. A person's second step is reset with an action on the list of users.
for _model in (TOTPDevice, StaticDevice):
    admin.site.unregister(_model)


@admin.register(Application)
class ApplicationAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """Applications register through POST /api/v1/apps; an action deletes them with their tokens."""

    list_display = ("name", "website", "scopes", "quota", "created")
    search_fields = ("name", "client_id__exact")
    fields = (
        "name",
        "website",
        "quota",
        "is_bulk",
        "skip_authorization",
        "client_id",
        "redirect_uris",
        "scopes",
        "created",
    )
    readonly_fields = ("client_id", "redirect_uris", "scopes", "created")
    actions = ("end",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Without consent an application may act for all users, so only superusers allow it."""
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if request.user.is_superuser else (*fields, "skip_authorization")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.delete_application")

    @admin.action(description="Delete, and end all tokens", permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[Application]) -> None:
        if reason := self.reason_of(request):
            self.log_deletions(request, queryset)
            ended = sum(delete_application(application) for application in queryset)
            self.message_user(request, f"{ended} tokens ended: {reason}")


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyKeysetAdmin, ReasonRequiredAdmin):
    """Read-only, with an action that ends tokens. The token itself is not stored, so not shown."""

    list_display = ("id", "user", "application", "scope", "created", "expires")
    list_select_related = ("user", "application")
    search_fields = ("user__username__exact", "application__client_id__exact")
    fields = ("user", "application", "scope", "created", "expires")
    actions = ("end",)

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.delete_accesstoken")

    @admin.action(description="End these tokens", permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[AccessToken]) -> None:
        if reason := self.reason_of(request):
            self.log_deletions(request, queryset)
            ended = end_tokens(queryset)
            self.message_user(request, f"{ended} tokens ended: {reason}")


@admin.register(AccessAttempt)
class FailedSignInAdmin(ReadOnlyKeysetAdmin, ReasonRequiredAdmin):
    """Failures of the last minutes by name and address, from the table of django-axes. Read-only,
    but an action lets a person try again."""

    list_title = "Failed sign-ins"
    empty_text = "No failed sign-ins in the last minutes."
    list_display = ("name", "address", "failures", "state", "time", "path_info")
    search_fields = ("username",)  # shows the field; get_search_results reads it
    search_help_text = "A whole name, or an address"
    fields = ("name", "address", "time", "path_info", "user_agent", "failures", "state")
    actions = ("forget",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """By the indexes of names and addresses. IPv6 addresses are stored as their network."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if network := network_of(term):
            return queryset.filter(ip_address=network), False
        return queryset.filter(username=term.removeprefix("@").lower()), False

    @admin.display(description="Name")
    def name(self, row: Any) -> str:
        return row.username or ""

    @admin.display(description="Address")
    def address(self, row: Any) -> str:
        return row.ip_address or ""

    @admin.display(description="Time")
    def time(self, row: Any) -> datetime:
        at: datetime = row.attempt_time
        return at

    @admin.display(description="Failures")
    def failures(self, row: AccessAttempt) -> int:
        return row.failures_since_start

    @admin.display(description="State")
    def state(self, row: AccessAttempt) -> str:
        """Of this name from this address; the address alone has a limit too."""
        until = row.attempt_time + settings.AXES_COOLOFF_TIME
        if until < datetime.now(UTC):
            return "over"
        if row.failures_since_start < settings.AXES_FAILURE_LIMIT:
            return f"{settings.AXES_FAILURE_LIMIT - row.failures_since_start} more tries"
        return f"refused until {until:%H:%M:%S} UTC"

    def has_forget_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("axes.delete_accessattempt")

    @admin.action(description="Forget, so that they can try again", permissions=["forget"])
    def forget(self, request: HttpRequest, queryset: QuerySet[AccessAttempt]) -> None:
        if reason := self.reason_of(request):
            self.log_deletions(request, queryset)
            _, deleted = queryset.delete()
            count = deleted.get(AccessAttempt._meta.label, 0)
            self.message_user(request, f"{count} forgotten: {reason}")
