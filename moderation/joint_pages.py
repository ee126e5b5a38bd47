"""The pages of the admin on which moderators decide on several accounts, posts and reports at once.

The first asks what to do, shows what will happen, and asks again. The second shows, target by
target, what was done, and goes on with what was not.

Which targets were chosen for a decision on several, and the form that says what to do.
"""

import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views import View

from accounts.models import User
from accounts.site_texts.queries import get_site_description
from infra.api.ids import parse_account_id
from moderation.actions.joint_decisions import carry_out, create_joint_decision
from moderation.admin.joint_preview import preview_accounts, preview_posts, preview_reports
from moderation.admin.page_context import account_link
from moderation.errors import SentBefore
from moderation.forms import UNTIL, EndFields
from moderation.models import REASON_LENGTH, JointDecision, JointTarget, Report
from moderation.queries.accounts import load_lines
from moderation.types import (
    ACCOUNT_DECISIONS,
    OPEN_STATES,
    POST_DECISIONS,
    DecisionKind,
    JointPlan,
    TargetState,
)
from posts.ids import MalformedPostId, PostId

MOST = 100
_NUMBER = re.compile("[0-9]{1,18}")
NOTHING = ("", "nothing")
TOO_MANY = f"Choose at most {MOST}: accounts, posts and reports together."


@dataclass(frozen=True)
class Chosen:
    """Targets by id, each with the report that it comes from, or None. `problem`: why no decision
    is possible; empty if one is.
    """

    accounts: Mapping[int, int | None]
    posts: Mapping[PostId, int | None]
    reports: Sequence[Report]
    problem: str

    @property
    def report_states(self) -> list[tuple[int, str]]:
        return [(report.pk, report.state) for report in self.reports]

    def plan_for(self, values: Mapping[str, Any] | None) -> JointPlan:
        """What the form asks for; None: nothing yet."""
        sent = values or {}
        return JointPlan(
            DecisionKind(sent["account_kind"]) if sent.get("account_kind") else None,
            DecisionKind(sent["post_kind"]) if sent.get("post_kind") else None,
            bool(sent.get("resolves")),
            sent.get("ends_at"),
            sent.get("reason", "").strip(),
            self.accounts,
            self.posts,
            {report.pk: report.account_id for report in self.reports},
            sent.get("lasts", "") if sent.get("lasts") != UNTIL else "",
        )


def read_chosen(query: QueryDict) -> Chosen:
    """The targets in the address: `account`, `post` and `report`, each any number of times.

    With a report come its account and its posts. `for_report`: the report that led to the others.
    Cost: one query by key, with reports.
    """
    about = _find_reports([query.get("for_report", "")])
    origin = about[0].pk if about else None
    reports = _find_reports(query.getlist("report")[: MOST + 1])
    accounts: dict[int, int | None] = {}
    posts: dict[PostId, int | None] = {}
    for report in reports:
        accounts[report.account_id] = report.pk
        posts |= dict.fromkeys(report.posts, report.pk)
    accounts |= dict.fromkeys(filter(None, map(parse_account_id, query.getlist("account"))), origin)
    posts |= dict.fromkeys(_read_posts(query.getlist("post")), origin)
    count = len(accounts) + len(posts) + len(reports)
    if count > MOST:
        return Chosen({}, {}, [], TOO_MANY)
    return Chosen(accounts, posts, reports, "" if count else "Choose accounts, posts or reports.")


def _find_reports(texts: Sequence[str]) -> list[Report]:
    ids = [int(text) for text in texts if _NUMBER.fullmatch(text)]
    return list(Report.objects.filter(pk__in=ids).order_by("pk"))


def _read_posts(texts: Sequence[str]) -> list[PostId]:
    posts = []
    for text in texts[: MOST + 1]:
        with suppress(MalformedPostId):
            posts.append(PostId.from_public(text))
    return posts


class JointForm(EndFields):
    """What to do with the chosen accounts, posts and reports. `key`: a form counts once."""

    account_kind = forms.ChoiceField(
        choices=[NOTHING, *[(kind.value, kind.value) for kind in ACCOUNT_DECISIONS]],
        required=False,
        label="With the accounts",
    )
    post_kind = forms.ChoiceField(
        choices=[NOTHING, *[(kind.value, kind.value) for kind in POST_DECISIONS]],
        required=False,
        label="With the posts",
    )
    resolves = forms.BooleanField(required=False, label="Resolve the reports")
    reason = forms.CharField(
        max_length=REASON_LENGTH,
        widget=forms.TextInput(attrs={"list": "mod-reasons"}),
        help_text="The accounts can read it.",
        error_messages={"required": "Give a reason."},
    )
    key = forms.UUIDField(widget=forms.HiddenInput)
    field_order = ("account_kind", "lasts", "until", "post_kind", "resolves", "reason", "key")

    def __init__(self, chosen: Chosen, *args: Any, **options: Any) -> None:
        """Without the fields of what was not chosen."""
        super().__init__(*args, **options)
        self._chosen = chosen
        absent = [] if chosen.accounts else ["account_kind", "lasts", "until"]
        absent += [] if chosen.posts else ["post_kind"]
        absent += [] if chosen.reports else ["resolves"]
        for name in absent:
            del self.fields[name]

    def with_new_key(self, error: str) -> Self:
        """The form as it was sent, with this error; sent again, it is another one."""
        again = type(self)(self._chosen, {**self.data, "key": str(uuid4())})
        again.add_error(None, f"{error}.")
        return again

    def clean(self) -> dict[str, Any]:
        values = dict(self.cleaned_data)
        kind = values.get("account_kind")
        if values.get("lasts") or values.get("until"):
            timed = DecisionKind(kind) if kind else None
            values["ends_at"] = self.read_end(values, timed, datetime.now(UTC))
        if not (kind or values.get("post_kind") or values.get("resolves")):
            self.add_error(None, "Choose what to do.")
        return values


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
