"""Moderation in the admin: the queues of reports and appeals, and the decisions.

A moderator decides by adding a decision. Rows of decisions are never changed or deleted.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from accounts.models import User
from accounts.types import Restriction
from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin
from infra.api.errors import TidelineError
from infra.api.ids import parse_account_id
from moderation.actions.appeals import accept_appeal, file_appeal, reject_appeal
from moderation.actions.decide import decide_on_account, decide_on_post
from moderation.actions.reports import assign_report, reopen_report, resolve_report
from moderation.forms import AppealForm, DecisionForm
from moderation.models import Appeal, Decision, Report
from moderation.types import DecisionKind, DecisionOrigin, ReportState
from posts.ids import MalformedPostId, PostId
from posts.queries.rows import find_post_text


class QueueAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """A queue that moderators work through. Rows cannot be entered, edited or deleted by hand."""

    fields: ClassVar[tuple[str, ...]] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Hides the save buttons, because no field can be edited."""
        shown = {"show_save": False, "show_save_and_continue": False, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, shown)

    def decide_each(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        decide: Callable[[Any, DecisionOrigin], object],
    ) -> None:
        """Takes one decision for each row, with the reason in the request; shows the refusals."""
        if not (reason := self.reason_of(request)):
            return
        origin = DecisionOrigin(request.user.pk, reason)
        for row in rows:
            try:
                decide(row, origin)
            except TidelineError as error:
                self.message_user(request, f"{row}: {error}", messages.ERROR)


class ReportFilter(admin.SimpleListFilter):
    title, parameter_name = "state", "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        words = ("open", "unassigned", "mine", "assigned", "resolved")
        return [(word, word) for word in words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> QuerySet[Report]:
        opened = queryset.filter(state=ReportState.OPEN)
        chosen = {
            "open": opened,
            "unassigned": opened.filter(assignee=None),
            "mine": opened.filter(assignee=request.user.pk),
            "assigned": opened.exclude(assignee=None),
            "resolved": queryset.filter(state=ReportState.RESOLVED),
        }
        return chosen.get(self.value() or "", queryset)


@admin.register(Report)
class ReportAdmin(QueueAdmin):
    """Reports that accounts filed with `POST /api/v1/reports`."""

    list_display = (
        *("id", "category", "reported", "restricted", "reported_by", "state", "assignee"),
        "created_at",
    )
    list_filter = (ReportFilter,)
    list_select_related = ("assignee",)
    search_fields = ("=account_id",)
    search_help_text = "By the id of the account that is reported"
    fields = (
        *("state", "assignee", "category", "comment", "reported_by", "reported", "restricted"),
        *("reported_posts", "decide_on", "created_at", "resolved_at"),
    )
    actions = ("assign", "resolve", "reopen")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        """With the names of both accounts and the restrictions of the reported one, by key."""
        account = User.objects.filter(pk=OuterRef("account_id"))
        reporter = User.objects.filter(pk=OuterRef("reporter_id"))
        return (
            super()
            .get_queryset(request)
            .annotate(
                account_name=Subquery(account.values("username")),
                restrictions=Subquery(account.values("restrictions")),
                reporter_name=Subquery(reporter.values("username")),
            )
        )

    @admin.display(description="Account")
    def reported(self, report: Report) -> str:
        return _name_of(report.account_id, vars(report)["account_name"])

    @admin.display(description="Restrictions")
    def restricted(self, report: Report) -> str:
        return Restriction(vars(report)["restrictions"] or 0).words

    @admin.display(description="Reported by")
    def reported_by(self, report: Report) -> str:
        return _name_of(report.reporter_id, vars(report)["reporter_name"])

    @admin.display(description="Posts, as they are now")
    def reported_posts(self, report: Report) -> SafeString:
        """One query by key for each post; a report has at most MOST_POSTS."""
        lines = ((post.public, _text_of(post)) for post in report.posts)
        return format_html_join("", "<p>{}: {}</p>", lines) or SafeString("none")

    @admin.display(description="Decide")
    def decide_on(self, report: Report) -> SafeString:
        targets = [str(report.account_id), *(post.public for post in report.posts)]
        links = ((_decision_link(target, report.pk), target) for target in targets)
        return format_html_join(" · ", '<a href="{}">decide on {}</a>', links)

    @admin.action(description="Assign to me", permissions=["change"])
    def assign(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        mine = int(request.user.pk or 0)  # only users who are signed in get here
        self.decide_each(request, queryset, lambda row, origin: assign_report(row.pk, mine, origin))

    @admin.action(description="Resolve", permissions=["change"])
    def resolve(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        now = datetime.now(UTC)
        self.decide_each(request, queryset, lambda row, origin: resolve_report(row.pk, origin, now))

    @admin.action(description="Reopen", permissions=["change"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self.decide_each(request, queryset, lambda row, origin: reopen_report(row.pk, origin))


def _name_of(account_id: int, username: str | None) -> str:
    """Also of an account whose user was deleted."""
    return f"@{username} ({account_id})" if username else str(account_id)


def _text_of(post_id: PostId) -> str:
    """The text of a reported post as it is now, even if moderators hide it."""
    post = find_post_text(post_id)
    if post is None or post.is_deleted:
        return "(deleted)"
    text = f"{post.spoiler_text} · {post.text}" if post.spoiler_text else post.text
    return f"(hidden) {text}" if post.is_hidden else text


def _decision_link(target: str, report_id: int) -> str:
    values = {"target": target, "report": str(report_id)}
    return f"{reverse('admin:moderation_decision_add')}?{urlencode(values)}"


@admin.register(Decision)
class DecisionAdmin(KeysetAdmin):
    """Adding a decision carries it out. Only superusers decide on accounts of staff."""

    form = DecisionForm
    list_display = ("id", "kind", "account_id", "public_id", "reason", "actor", "created_at")
    list_select_related = ("actor",)
    search_fields = ("=account_id", "=post_id")
    search_help_text = "By the id of an account or a post"
    raw_id_fields = ("report",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("kind", "target", "reason", "report") if obj is None else self._shown()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self._shown()

    def _shown(self) -> tuple[str, ...]:
        about = ("kind", "account_id", "public_id", "restrictions", "reason")
        return (*about, "actor", "report", "created_at")

    @admin.display(description="Post")
    def public_id(self, decision: Decision) -> str:
        return decision.post.public if decision.post else ""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Decision], search_term: str
    ) -> tuple[QuerySet[Decision], bool]:
        """Rows have ids of posts in base36."""
        if parse_account_id(search_term.strip()) is None:
            with suppress(MalformedPostId):
                search_term = PostId.from_public(search_term.strip()).base36
        return super().get_search_results(request, queryset, search_term)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Carries out the decision, which inserts its own row; `obj` gets the values of the row."""
        values = form.cleaned_data
        report = values["report"]
        origin = DecisionOrigin(request.user.pk, values["reason"], report.pk if report else None)
        done = _decide(values["target"], DecisionKind(values["kind"]), origin)
        if done is not None:
            obj.pk, obj.account_id, obj.post_id = done.pk, done.account_id, done.post_id

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        """Shows the form again with the error if the decision is refused."""
        try:
            return super().add_view(request, form_url, extra_context)
        except TidelineError as error:
            self.message_user(request, f"Nothing done: {error}", messages.ERROR)
            request.method = "GET"
            return super().add_view(request, form_url, extra_context)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Writes no log entry: the decision is its own record."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        if obj.pk is None:
            self.message_user(request, "Nothing done: it changes nothing.", messages.WARNING)
            return self.response_post_save_add(request, obj)
        return super().response_add(request, obj, post_url_continue)


def _decide(target: int | PostId, kind: DecisionKind, origin: DecisionOrigin) -> Decision | None:
    if isinstance(target, PostId):
        return decide_on_post(target, kind, origin)
    return decide_on_account(target, kind, origin, datetime.now(UTC))


@admin.register(Appeal)
class AppealAdmin(QueueAdmin):
    """Appeals against decisions. Accepting an appeal undoes the decision."""

    form = AppealForm
    list_display = ("id", "state", "decision", "text", "created_at")
    list_filter = ("state",)
    list_select_related = ("decision",)
    raw_id_fields = ("decision",)
    fields = ("state", "about", "text", "created_at", "decided_at")
    actions = ("accept", "reject")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("moderation.add_appeal")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("decision", "text") if obj is None else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self.fields

    @admin.display(description="Against")
    def about(self, appeal: Appeal) -> SafeString:
        where = reverse("admin:moderation_decision_change", args=[appeal.decision_id])
        return format_html(
            '<a href="{}">{}</a>: {}', where, appeal.decision, appeal.decision.reason
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        decision = form.cleaned_data["decision"]
        text = form.cleaned_data["text"]
        obj.pk = file_appeal(decision.account_id, decision.pk, text).pk

    @admin.action(description="Accept: undo the decision", permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[Appeal]) -> None:
        now = datetime.now(UTC)
        self.decide_each(request, queryset, lambda row, origin: accept_appeal(row.pk, origin, now))

    @admin.action(description="Reject: the decision stays", permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Appeal]) -> None:
        now = datetime.now(UTC)
        self.decide_each(request, queryset, lambda row, origin: reject_appeal(row.pk, origin, now))
