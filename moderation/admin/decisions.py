"""Decisions in the admin. Adding one carries it out; rows are never changed or deleted.

Lists of what holds and what is going on: restrictions with an end, and decisions on several.
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.text import capfirst

from accounts.models import User
from accounts.queries.users import find_account_id
from accounts.site_texts.queries import get_site_description
from accounts.types import Restriction
from infra.admin.keyset import KeysetAdmin, ReadOnlyKeysetAdmin
from infra.api.errors import TidelineError
from infra.api.ids import parse_account_id
from moderation.actions.decide import decide_on_account, decide_on_post
from moderation.actions.reports import resolve_report
from moderation.admin.next_report import page_then
from moderation.admin.page_context import account_link, page_before
from moderation.admin.queue import REFUSED, words_of
from moderation.admin.undoing import offer_undo
from moderation.forms import DecisionForm
from moderation.models import Decision, JointDecision, JointTarget, Report, TimedRestriction
from moderation.types import (
    ACCOUNT_DECISIONS,
    OPEN_STATES,
    POST_DECISIONS,
    DecisionKind,
    DecisionOrigin,
)
from posts.fragments.present import post_url
from posts.ids import MalformedPostId, PostId

WORDS = {
    DecisionKind.HIDE: "The post is hidden.",
    DecisionKind.SHOW: "The post is shown again.",
    DecisionKind.DELETE: "The post is deleted.",
    DecisionKind.WARN: "The account is warned.",
    DecisionKind.LIMIT: "The account is limited.",
    DecisionKind.FREEZE: "The account is frozen.",
    DecisionKind.SUSPEND: "The account is suspended.",
    DecisionKind.RESTORE: "The account has no restrictions now.",
    DecisionKind.PURGE: "The account will be purged.",
}
KINDS = {"On an account": ACCOUNT_DECISIONS, "On a post": POST_DECISIONS}
ENTERED_FIELDS = ("kind", "target", "lasts", "until", "reason", "report")


@admin.register(Decision)
class DecisionAdmin(KeysetAdmin):
    """Adding a decision carries it out. Only superusers decide on accounts of staff."""

    form = DecisionForm
    list_display = (*("title", "account", "about", "reason", "ends_at", "actor", "created"),)
    list_select_related = ("actor",)
    search_fields = ("=account_id", "=post_id")
    search_help_text = "By the name or id of an account, or the id of a post"
    raw_id_fields = ("report",)
    add_form_template = "moderation/decision.html"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ENTERED_FIELDS if obj is None else self._shown()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self._shown()

    def _shown(self) -> tuple[str, ...]:
        about = ("kind", "account", "public_id", "image_id", "left_with", "ends_at", "reason")
        return (*about, "actor", "report", "created_at", "mailed_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        """With the name of the account, by key."""
        account = User.objects.filter(pk=OuterRef("account_id"))
        names = Subquery(account.values("username"))
        return super().get_queryset(request).annotate(account_name=names)

    @admin.display(description="Decision")
    def title(self, decision: Decision) -> str:
        return capfirst(decision.kind)

    @admin.display(description="About")
    def about(self, decision: Decision) -> str:
        if decision.post:
            return format_html('<a href="{}">a post</a>', post_url(decision.post))
        return "an image" if decision.image_id is not None else ""

    @admin.display(description="Account")
    def account(self, decision: Decision) -> str:
        return account_link(decision.account_id, vars(decision)["account_name"])

    @admin.display(description="Restrictions after it")
    def left_with(self, decision: Decision) -> str:
        """Empty for a decision on a post, an image or a report."""
        left = decision.restrictions
        return "" if left is None else Restriction(left).words

    @admin.display(description="Post")
    def public_id(self, decision: Decision) -> str:
        return decision.post.public if decision.post else ""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Decision], search_term: str
    ) -> tuple[QuerySet[Decision], bool]:
        """By index. Rows have ids of posts in base36; a short number is the id of an account."""
        term = search_term.strip()
        if not term:
            return queryset, False
        account_id = parse_account_id(term)
        if account_id is None:
            with suppress(MalformedPostId):
                return queryset.filter(post_id=PostId.from_public(term).base36), False
            account_id = find_account_id(term.removeprefix("@"))
        return queryset.filter(account_id=account_id or 0), False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Carries out the decision, which inserts its own row; `obj` gets the values of the row."""
        values = form.cleaned_data
        report = values["report"]
        origin = DecisionOrigin(request.user.pk, values["reason"], report.pk if report else None)
        done = _decide(
            values["target"], DecisionKind(values["kind"]), origin, values.get("ends_at")
        )
        if done is not None:
            obj.pk, obj.account_id, obj.post_id = done.pk, done.account_id, done.post_id
            if report and request.POST.get("resolves"):
                self._resolve(request, report, origin)

    def _resolve(self, request: HttpRequest, report: Report, origin: DecisionOrigin) -> None:
        """The report that led to the decision. If this fails, the report stays open, and the
        decision holds."""
        if not request.user.has_perm("moderation.change_report"):
            return
        try:
            resolve_report(report.pk, origin, datetime.now(UTC))
        except TidelineError as error:
            self.message_user(request, f"The report is not resolved: {error}", messages.WARNING)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        """A refused decision shows the error: on the form, or on the page that sent it."""
        try:
            return super().add_view(request, form_url, extra_context)
        except REFUSED as error:
            self.message_user(request, f"Nothing done: {words_of(error)}", messages.ERROR)
            if back := page_before(request):
                return redirect(back)
            request.method = "GET"
            return super().add_view(request, form_url, extra_context)

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        if options["obj"] is None:
            reasons = get_site_description().reasons
            context |= {"title": "Take a decision", "kinds_by_target": KINDS, "reasons": reasons}
        return super().render_change_form(request, context, *args, **options)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Writes no log entry: the decision is its own record."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        """To the next report, or back to the report or user that the decision was taken on."""
        if obj.pk is None:
            self.message_user(request, "Nothing done: it changes nothing.", messages.WARNING)
            answer: HttpResponse = self.response_post_save_add(request, obj)
        else:
            offer_undo(request, WORDS.get(obj.kind, f"Done: {obj}."), obj)
            answer = self.response_post_save_add(request, obj)
        there = page_then(request)
        return redirect(there) if there else answer


def _decide(
    target: int | PostId, kind: DecisionKind, origin: DecisionOrigin, ends_at: datetime | None
) -> Decision | None:
    if isinstance(target, PostId):
        return decide_on_post(target, kind, origin)
    return decide_on_account(target, kind, origin, datetime.now(UTC), ends_at=ends_at)


@admin.register(TimedRestriction)
class TimedRestrictionAdmin(ReadOnlyKeysetAdmin):
    """To change an end, decide the same again on the page of the account."""

    list_title = "Restrictions with an end"
    list_display = ("id", "account", "restricted", "ends_at", "decision")
    list_select_related = ("decision",)
    empty_text = "No restriction ends by itself."

    def get_queryset(self, request: HttpRequest) -> QuerySet[TimedRestriction]:
        """With the name of the account, by key."""
        account = User.objects.filter(pk=OuterRef("account_id"))
        names = Subquery(account.values("username"))
        return super().get_queryset(request).annotate(account_name=names)

    @admin.display(description="Account")
    def account(self, row: TimedRestriction) -> str:
        return account_link(row.account_id, vars(row)["account_name"])

    @admin.display(description="Restriction")
    def restricted(self, row: TimedRestriction) -> str:
        return Restriction(row.restriction).words


@admin.register(JointDecision)
class JointDecisionAdmin(ReadOnlyKeysetAdmin):
    """Decisions on several targets. The page of one goes on with what is not done."""

    list_title = "Decisions on several"
    list_display = ("id", "what", "state", "reason", "actor", "created")
    list_select_related = ("actor",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[JointDecision]:
        """With whether some targets are not done, by index."""
        left = JointTarget.objects.filter(joint=OuterRef("pk"), state__in=OPEN_STATES)
        return super().get_queryset(request).annotate(has_left=Exists(left))

    @admin.display(description="Decision")
    def what(self, row: JointDecision) -> str:
        parts = [row.account_kind, row.post_kind and f"{row.post_kind} posts"]
        parts += ["resolve reports"] if row.resolves else []
        return ", ".join(filter(None, parts))

    @admin.display(description="State")
    def state(self, row: JointDecision) -> str:
        return "some are not done" if vars(row)["has_left"] else "all done"

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **options: Any) -> Any:
        """The page of the decision, which checks the rights itself."""
        return redirect("joint_decision", object_id) if object_id.isdecimal() else redirect("..")
