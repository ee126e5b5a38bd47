"""Users, applications and tokens in the admin: mostly read-only; actions need a reason."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest
from oauth2_provider.models import get_grant_model

from accounts.actions.tokens import delete_application, end_tokens
from accounts.models import AccessToken, Application, IDToken, RefreshToken, User
from accounts.types import Restriction
from infra.admin.keyset import KeysetAdmin, ReadOnlyKeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin

# The toolkit's admin of these does not end cached tokens, or the model is unused.
for _model in (Application, AccessToken, RefreshToken, IDToken, get_grant_model()):
    admin.site.unregister(_model)


@admin.register(User)
class UserAdmin(KeysetAdmin, DjangoUserAdmin):  # type: ignore[type-arg]
    """Users are created by sign-up or `manage.py create_account`, which also create the account.

    Moderation decides who may sign in. There are no filters, because no index would serve them.
    """

    list_display = ("username", "email", "restricted", "is_staff", "date_joined")
    list_filter = ()
    search_fields = ("username", "email")
    search_help_text = "The beginning of a name, or a whole e-mail address"
    fieldsets = (
        (None, {"fields": ("username", "email", "password")}),
        ("Permissions", {"fields": ("is_staff", "is_superuser", "groups", "user_permissions")}),
        ("State", {"fields": ("restricted", "is_active", "last_login", "date_joined")}),
    )
    # The username is copied to the shard; is_active follows from the restrictions.
    readonly_fields = ("username", "restricted", "is_active", "last_login", "date_joined")

    @admin.display(description="Restrictions")
    def restricted(self, user: User) -> str:
        return Restriction(user.restrictions).words

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        """By the indexes of usernames (prefix) and of e-mail addresses (whole)."""
        term = search_term.lower()
        if "@" in term.removeprefix("@"):
            known = queryset.alias(lower_email=Lower("email")).exclude(email="")
            return known.filter(lower_email=term), False
        return queryset.filter(username__startswith=term.removeprefix("@")), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Application)
class ApplicationAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """Applications register through POST /api/v1/apps; an action deletes them with their tokens."""

    list_display = ("name", "website", "scopes", "quota", "created")
    search_fields = ("name", "client_id__exact")
    fields = (
        "name",
        "website",
        "quota",
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
