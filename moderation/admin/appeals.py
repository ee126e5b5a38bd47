"""The queue of appeals in the admin."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from accounts.site_texts.queries import get_site_description
from moderation.actions.appeals import accept_appeal, file_appeal, reject_appeal
from moderation.admin.page_context import account_link
from moderation.admin.queue import QueueAdmin
from moderation.forms import AppealForm
from moderation.models import Appeal


@admin.register(Appeal)
class AppealAdmin(QueueAdmin):
    """Appeals against decisions. Accepting an appeal undoes the decision."""

    form = AppealForm
    list_display = ("id", "state", "account", "decision", "text", "created")
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
            context |= {
                "title": f"Appeal {appeal.pk}",
                "subtitle": None,
                "account": self.account(appeal),
                "decision": appeal.decision,
                "reasons": get_site_description().reasons,
                "can_answer": self.has_change_permission(request) and not appeal.decided_at,
            }
        return super().render_change_form(request, context, *args, **options)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("decision", "text") if obj is None else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self.fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Appeal]:
        """With the name of the account, by key."""
        account = User.objects.filter(pk=OuterRef("decision__account_id"))
        names = Subquery(account.values("username"))
        return super().get_queryset(request).annotate(account_name=names)

    @admin.display(description="Account")
    def account(self, appeal: Appeal) -> str:
        return account_link(appeal.decision.account_id, vars(appeal)["account_name"])

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
