"""The queue of appeals in the admin."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from accounts.models import User
from infra.admin.display import chip
from infra.admin.keyset import LONGEST_ID
from moderation.actions.appeals import accept_appeal, file_appeal, reject_appeal
from moderation.admin.page_context import account_context, account_link, post_contexts
from moderation.admin.queue import QueueAdmin
from moderation.forms import AppealForm
from moderation.models import Appeal
from moderation.queries.accounts import read_account_facts
from moderation.queries.decisions import list_decisions_on, list_reports_on
from moderation.types import AppealState

NONE_WAITS = "No other appeal waits."


@admin.register(Appeal)
class AppealAdmin(QueueAdmin):
    """Appeals against decisions. Accepting an appeal undoes the decision."""

    form = AppealForm
    list_display = ("title", "account", "text", "shown_state", "created")
    list_filter = ("state",)
    list_select_related = ("decision",)
    raw_id_fields = ("decision",)
    fields = ("state", "account", "about", "text", "created_at", "decided_at")
    actions = ("accept", "reject")
    change_form_template = "moderation/appeal.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("moderation.add_appeal")

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        appeal = options["obj"]
        if appeal is not None:
            can_answer = self.has_change_permission(request) and not appeal.decided_at
            context |= {
                "title": self.title(appeal),
                "subtitle": None,
                "can_answer": can_answer,
                **_about(request, appeal),
            }
        return super().render_change_form(request, context, *args, **options)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("decision", "text") if obj is None else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self.fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Appeal]:
        """With the name and the restrictions of the account, by key."""
        account = User.objects.filter(pk=OuterRef("decision__account_id"))
        names = Subquery(account.values("username"))
        restrictions = Subquery(account.values("restrictions"))
        rows = super().get_queryset(request)
        return rows.annotate(account_name=names, restrictions=restrictions)

    def is_oldest_first(self, request: HttpRequest) -> bool:
        """The appeal that waits longest is the first of those that wait."""
        return request.GET.get("state__exact") == AppealState.PENDING

    @admin.display(description="Appeal")
    def title(self, appeal: Appeal) -> str:
        return f"{capfirst(appeal.decision.kind)}, appeal {appeal.pk}"

    @admin.display(description="State")
    def shown_state(self, appeal: Appeal) -> str:
        return _state_chip(appeal)

    @admin.display(description="Account")
    def account(self, appeal: Appeal) -> str:
        return _account_of(appeal)

    @admin.display(description="Against")
    def about(self, appeal: Appeal) -> SafeString:
        where = reverse("admin:moderation_decision_change", args=[appeal.decision_id])
        return format_html(
            '<a href="{}">{}</a>: {}', where, appeal.decision, appeal.decision.reason
        )

    def response_action(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """The page of an appeal leads to the next one that waits."""
        answer = super().response_action(request, *args, **options)
        there = _page_then(request)
        return redirect(there) if there else answer

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


def _about(request: HttpRequest, appeal: Appeal) -> dict[str, Any]:
    """The account with the post that the decision is about, and its history. The page has one
    decision: the answer. Cost: five queries on the account's shard, three here."""
    decision = appeal.decision
    posts = [decision.post] if decision.post else []
    facts = read_account_facts(decision.account_id, posts)
    name, restrictions = vars(appeal)["account_name"], vars(appeal)["restrictions"] or 0
    return {
        **account_context(request, facts, name, restrictions),
        "can_decide": False,
        "account": _account_of(appeal),
        "state": _state_chip(appeal),
        "decision": decision,
        "posts": [*post_contexts(facts, posts)],
        "reports": list_reports_on(decision.account_id),
        "decisions": list_decisions_on(decision.account_id),
    }


def _account_of(appeal: Appeal) -> str:
    return account_link(appeal.decision.account_id, vars(appeal)["account_name"])


def _state_chip(appeal: Appeal) -> str:
    return chip(appeal.state, "open" if appeal.state == AppealState.PENDING else "")


def _page_then(request: HttpRequest) -> str:
    """Where the form of an appeal's page leads: to the oldest other appeal that waits, and back if
    it was not answered. Empty for other pages. Two queries by index."""
    model, _, pk = request.POST.get("sent_from", "").partition("-")
    if model != "appeal" or not pk.isascii() or not pk.isdigit() or len(pk) > LONGEST_ID:
        return ""
    waiting = Appeal.objects.filter(state=AppealState.PENDING).order_by("pk")
    appeal = waiting.filter(pk=pk).first() or waiting.first()
    if appeal is None:
        messages.info(request, NONE_WAITS)
        return reverse("admin:moderation_appeal_changelist")
    return reverse("admin:moderation_appeal_change", args=[appeal.pk])
