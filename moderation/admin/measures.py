"""Lists of what holds and what is going on: restrictions with an end, and decisions on several."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.shortcuts import redirect

from accounts.models import User
from accounts.types import Restriction
from infra.admin.keyset import ReadOnlyKeysetAdmin
from moderation.admin.page_context import account_link
from moderation.models import JointDecision, JointTarget, TimedRestriction
from moderation.types import OPEN_STATES


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
