"""Users in the admin: the account behind each, its history, and for operators the user's rights.

The action that lets a person in again who lost their app, their passkeys and recovery codes.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from accounts.cache import drop_actor
from accounts.models import FormerName, User
from accounts.second_step.actions import reset_second_step
from infra.admin.display import age, chip
from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin
from infra.jobs.models import OPERATE
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.admin.page_context import (
    account_context,
    face_of,
    post_contexts,
    restriction_chips,
)
from moderation.admin.queue import SeveralAdmin
from moderation.forms import UserPasswordForm
from moderation.models import Decision, Report
from moderation.queries.accounts import AccountLine, load_lines, read_account_facts
from moderation.queries.decisions import list_decisions_on, list_reports_on
from moderation.types import ACCOUNT_DECISIONS, POST_DECISIONS


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


VIEW_REPORTS, VIEW_DECISIONS = "moderation.view_report", "moderation.view_decision"


def _has_name(beginning: str) -> Q:
    """The beginning of a name, or a whole former one. One query, without which the database would
    not use its index of names."""
    former = FormerName.objects.filter(username=beginning).values_list("user_id", flat=True)
    named = Q(username__startswith=beginning)
    return named | Q(pk__in=[*former]) if beginning and former else named


@admin.register(User)
class UserAdmin(KeysetAdmin, SeveralAdmin, SecondStepAdmin, DjangoUserAdmin):  # type: ignore[type-arg]
    """Users are created by sign-up or `manage.py accounts create`, which also create the account.

    Moderation decides who may sign in. There are no filters, because no index would serve them.
    Only operators see e-mail addresses and rights.
    """

    list_display = (
        *("person", "display_name", "restricted", "posts", "followers", "joined"),
        "rights",
    )
    list_filter = ()
    actions = ("decide_on_several", "reset_second_steps")
    target = "account"
    # The two-sided lists of Django cannot be used without seeing them.
    filter_horizontal = ()
    search_fields = ("username", "email")
    search_help_text = "The beginning of a name; for operators also a whole e-mail address"
    change_form_template = "moderation/user.html"
    change_password_form = UserPasswordForm
    fieldsets = (
        (
            "Signing in",
            {
                "fields": (
                    "username",
                    "former_names",
                    "email",
                    "password",
                    "is_active",
                    "last_login",
                )
            },
        ),
        (
            "Access to the admin",
            {"fields": ("is_staff", "is_superuser", "groups"), "classes": ("collapse",)},
        ),
    )
    # The username is copied to the shard; is_active follows from the restrictions.
    readonly_fields = ("username", "former_names", "is_active", "last_login")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """With the newest report and decision about each, by index."""
        reports = Report.objects.filter(account_id=OuterRef("pk")).order_by("-id")
        kinds = (*ACCOUNT_DECISIONS, *POST_DECISIONS)
        decisions = Decision.objects.filter(account_id=OuterRef("pk"), kind__in=kinds)
        newest = decisions.order_by("-id")
        return (
            super()
            .get_queryset(request)
            .annotate(
                newest_report=Subquery(reports.values("pk")[:1]),
                newest_decision=Subquery(newest.values("pk")[:1]),
                newest_kind=Subquery(newest.values("kind")[:1]),
            )
        )

    def load_for(self, rows: Sequence[Any]) -> None:
        """The accounts of a page: two queries a shard."""
        lines = load_lines(user.pk for user in rows)
        for user in rows:
            vars(user)["line"] = lines.get(user.pk)

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        history = ("last_report", "last_decision") if request.user.has_perm(VIEW_REPORTS) else ()
        return (*self.list_display, *history)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if request.user.has_perm(OPERATE):
            return self._with_own_rights(super().get_fieldsets(request, obj), obj)
        fields = ("username", "former_names", "is_staff", "is_active", "last_login")
        return (("Signing in", {"fields": fields}),)

    def _with_own_rights(self, fieldsets: Any, user: User | None) -> Any:
        """Rights are given by groups. Those that a person has without one are shown, to take away.
        One query."""
        if user is None or not user.user_permissions.exists():
            return fieldsets
        signing_in, (title, options) = fieldsets
        fields = (*options["fields"], "user_permissions")
        return (signing_in, (title, {**options, "fields": fields}))

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        """Adds the account. Cost: two queries here, five on the account's shard."""
        user = options["obj"]
        facts = read_account_facts(user.pk)
        context |= {
            "title": f"@{user.username}",
            "subtitle": None,
            "sent_from": f"user-{user.pk}",
            **account_context(request, facts, user.username, user.restrictions),
            "posts": [*post_contexts(facts, facts.latest)],
            "has_several": len(facts.latest) > 1,
        }
        if request.user.has_perm(VIEW_REPORTS):
            context["reports"] = list_reports_on(user.pk)
        if request.user.has_perm(VIEW_DECISIONS):
            context["decisions"] = list_decisions_on(user.pk)
        return super().render_change_form(request, context, *args, **options)

    @admin.display(description="User")
    def person(self, user: User) -> str:
        line = _line_of(user)
        face = face_of(line.profile) if line and line.profile else ""
        return format_html('<span class="who">{}@{}</span>', face, user.username)

    @admin.display(description="Display name")
    def display_name(self, user: User) -> str:
        line = _line_of(user)
        return line.profile.display_name if line and line.profile else ""

    @admin.display(description="Former names")
    def former_names(self, user: User) -> str:
        """One query. They lead to the account, and no other account gets them."""
        names = user.former_names.order_by("-renamed_at")
        return ", ".join(f"@{name} until {name.renamed_at:%Y-%m-%d}" for name in names) or "none"

    @admin.display(description="Restrictions")
    def restricted(self, user: User) -> str:
        return restriction_chips(user.restrictions)

    @admin.display(description="Joined")
    def joined(self, user: User) -> str:
        return age(user.date_joined)

    @admin.display(description="Rights")
    def rights(self, user: User) -> str:
        word = "all" if user.is_superuser else "staff" if user.is_staff else ""
        return chip(word) if word else ""

    @admin.display(description="Posts")
    def posts(self, user: User) -> object:
        line = _line_of(user)
        return line.counts.posts if line else "not known"

    @admin.display(description="Followers")
    def followers(self, user: User) -> object:
        line = _line_of(user)
        return line.counts.followers if line else "not known"

    @admin.display(description="Last report")
    def last_report(self, user: User) -> str:
        return _link("report", vars(user)["newest_report"], f"Report {vars(user)['newest_report']}")

    @admin.display(description="Last decision")
    def last_decision(self, user: User) -> str:
        return _link("decision", vars(user)["newest_decision"], vars(user)["newest_kind"])

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        """By the indexes of usernames (prefix) and of e-mail addresses (whole).

        Moderators cannot search for addresses: they could find out whose each is.
        """
        term = search_term.lower()
        if "@" not in term.removeprefix("@"):
            return queryset.filter(_has_name(term.removeprefix("@"))), False
        if not request.user.has_perm(OPERATE):
            return queryset.none(), False
        known = queryset.alias(lower_email=Lower("email")).exclude(email="")
        return known.filter(lower_email=term), False

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Services stop to act for a new moderator at once."""
        super().save_model(request, obj, form, change)
        transaction.on_commit(partial(drop_actor, obj.pk), using=GLOBAL_ALIAS, robust=True)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _line_of(user: User) -> AccountLine | None:
    line: AccountLine | None = vars(user)["line"]
    return line


def _link(model: str, pk: int | None, text: str) -> str:
    if pk is None:
        return ""
    where = reverse(f"admin:moderation_{model}_change", args=[pk])
    return format_html('<a href="{}">{}</a>', where, text)
