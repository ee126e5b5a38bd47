"""The pages of the admin on which moderators decide on several accounts, posts and reports at once.

The first asks what to do, shows what will happen, and asks again. The second shows, target by
target, what was done, and goes on with what was not.
"""

import uuid
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views import View

from accounts.models import User
from accounts.site_texts.queries.site_description import get_site_description
from moderation.actions.joint_decisions import carry_out, create_joint_decision
from moderation.admin.joint_preview import preview_accounts, preview_posts, preview_reports
from moderation.admin.page_context import account_link
from moderation.errors import SentBefore
from moderation.joint_forms import Chosen, JointForm, read_chosen
from moderation.models import JointDecision, JointTarget
from moderation.queries.accounts import load_lines
from moderation.types import OPEN_STATES, JointPlan, TargetState

DECIDE, VIEW_DECISIONS, CHANGE_REPORTS = (
    "moderation.add_decision",
    "moderation.view_decision",
    "moderation.change_report",
)


@method_decorator(admin.site.admin_view, name="dispatch")
class DecideOnSeveral(View):
    """The targets are in the address. The first POST shows what will happen, the second does it."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(DECIDE):
            raise PermissionDenied
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        chosen = read_chosen(request.GET)
        first = {"reason": request.GET.get("reason", ""), "key": uuid.uuid4()}
        form = JointForm(chosen, initial={"resolves": True, **first})
        return self._draw(chosen, form, chosen.plan_for(None))

    def post(self, request: HttpRequest) -> HttpResponse:
        chosen = read_chosen(request.GET)
        form = JointForm(chosen, request.POST)
        if chosen.problem or not form.is_valid() or request.POST.get("step") == "change":
            return self._draw(chosen, form, chosen.plan_for(None))
        plan = chosen.plan_for(form.cleaned_data)
        if plan.resolves and not request.user.has_perm(CHANGE_REPORTS):
            raise PermissionDenied
        if request.POST.get("step") != "do":
            return self._draw(chosen, form, plan, is_asked=True)
        actor_id = int(request.user.pk or 0)  # only people who are signed in get here
        try:
            joint = create_joint_decision(form.cleaned_data["key"], actor_id, plan)
        except SentBefore as error:
            return self._draw(chosen, form.with_new_key(str(error)), chosen.plan_for(None))
        carry_out(joint, actor_id)
        return redirect("joint_decision", joint.pk)

    def _draw(
        self, chosen: Chosen, form: JointForm, plan: JointPlan, is_asked: bool = False
    ) -> HttpResponse:
        """`is_asked`: the form was sent; the page shows what will happen."""
        is_superuser = bool(getattr(self.request.user, "is_superuser", False))
        sections = {
            "Accounts": preview_accounts(plan, is_superuser),
            "Posts": preview_posts(plan),
            "Reports": [*preview_reports(plan, chosen.report_states)],
        }
        context = {
            **admin.site.each_context(self.request),
            "title": "Decide on several at once",
            "form": form,
            "chosen": chosen,
            "plan": plan,
            "is_asked": is_asked,
            "sections": {name: lines for name, lines in sections.items() if lines},
            "reasons": get_site_description().reasons,
        }
        status = 422 if chosen.problem else 200
        return render(self.request, "moderation/several.html", context, status=status)


@method_decorator(admin.site.admin_view, name="dispatch")
class JointDecisionPage(View):
    """What was done with each target. A POST goes on with those that are not done."""

    def get(self, request: HttpRequest, joint_id: int) -> HttpResponse:
        if not request.user.has_perm(VIEW_DECISIONS):
            raise PermissionDenied
        joint = get_object_or_404(JointDecision.objects.select_related("actor"), pk=joint_id)
        targets = list(joint.targets.order_by("pk"))
        done = sum(target.state not in OPEN_STATES for target in targets)
        context = {
            **admin.site.each_context(request),
            "title": f"Decision {joint.pk} on several",
            "joint": joint,
            "lines": _lines_of(targets),
            "done": done,
            "left": len(targets) - done,
            "can_decide": request.user.has_perm(DECIDE),
        }
        return render(request, "moderation/joint.html", context)

    def post(self, request: HttpRequest, joint_id: int) -> HttpResponse:
        if not request.user.has_perm(DECIDE):
            raise PermissionDenied
        joint = get_object_or_404(JointDecision, pk=joint_id)
        if joint.resolves and not request.user.has_perm(CHANGE_REPORTS):
            raise PermissionDenied
        carry_out(joint, int(request.user.pk or 0))
        if joint.targets.filter(state__in=OPEN_STATES).exists():
            messages.warning(request, "Some are not done. The list says why.")
        return redirect("joint_decision", joint.pk)


def _lines_of(targets: list[JointTarget]) -> list[dict[str, Any]]:
    """Each target with the name of its account. Cost: one query, and two a shard."""
    account_ids = {target.account_id for target in targets}
    names = dict(User.objects.filter(pk__in=account_ids).values_list("pk", "username"))
    answered = load_lines(account_ids)
    return [
        {
            "target": target,
            "account": account_link(target.account_id, names.get(target.account_id)),
            "is_late": target.state == TargetState.DONE
            and not target.is_report
            and target.account_id not in answered,
        }
        for target in targets
    ]
