"""Reports in the admin: the queue, and one page that has all that a decision needs."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.text import Truncator, capfirst

from accounts.models import User
from accounts.queries.users import find_account_id
from accounts.site_texts.queries import load_rule_texts
from infra.admin.display import chip
from infra.admin.keyset import AFTER
from infra.api.ids import parse_account_id
from moderation.actions.reports import assign_report, reopen_report, resolve_report
from moderation.admin.next_report import anchor_of, page_then
from moderation.admin.page_context import (
    DECIDE,
    account_cell,
    account_context,
    account_link,
    post_contexts,
    report_before,
    restriction_chips,
)
from moderation.admin.queue import QueueAdmin, SeveralAdmin
from moderation.admin.undoing import offer_undo
from moderation.cache import note_reader
from moderation.models import Report
from moderation.queries.accounts import load_lines, read_account_facts
from moderation.queries.decisions import (
    find_resolution,
    list_decisions_on,
    list_reports_on,
    with_names,
)
from moderation.types import ReportState

MOST_OF_COMMENT = 120
# Filters of what waits: the report that waits longest is the first.
WAITING = {"open", "unassigned", "mine", "assigned"}
QUEUE = "queue"
# By filter: the columns that would say the same in each row.
SAME = {"open": ("shown_state",), "unassigned": ("shown_state", "assignee")}


class ReportFilter(admin.SimpleListFilter):
    """The open ones are shown first. A search, and an action on chosen rows, go over all."""

    title, parameter_name = "state", QUEUE

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(request, *args)
        self._word = _filter_of(request)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        words = ("open", "unassigned", "mine", "assigned", "resolved", "all")
        return [(word, word) for word in words]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Each begins with its first page. Without Django's own "All", which would be the open."""
        for word, display in self.lookup_choices:
            where = changelist.get_query_string({self.parameter_name: word}, [AFTER])
            yield {"selected": word == self._word, "query_string": where, "display": display}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> QuerySet[Report]:
        opened = queryset.filter(state=ReportState.OPEN)
        chosen = {
            "open": opened,
            "unassigned": opened.filter(assignee=None),
            "mine": opened.filter(assignee=request.user.pk),
            "assigned": opened.exclude(assignee=None),
            "resolved": queryset.filter(state=ReportState.RESOLVED),
            "all": queryset,
        }
        if self._word not in chosen:
            raise IncorrectLookupParameters
        return chosen[self._word]


@admin.register(Report)
class ReportAdmin(QueueAdmin, SeveralAdmin):
    """Reports that accounts filed with `POST /api/v1/reports`."""

    list_display = (
        *("title", "reported", "excerpt", "posts_named", "reported_by"),
        *("shown_state", "assignee", "created"),
    )
    list_filter = (ReportFilter,)
    search_fields = ("=account_id",)
    search_help_text = "By the name or id of the account that is reported"
    fields = ("state", "assignee", "category", "comment")
    change_form_template = "moderation/report.html"
    actions = ("decide_on_several", "assign", "resolve", "reopen")
    empty_text = "No report waits here."
    target = "report"

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Without the columns that are the same in each row of the filter."""
        same = SAME.get(_filter_of(request), ())
        return [name for name in self.list_display if name not in same]

    def is_oldest_first(self, request: HttpRequest) -> bool:
        return _filter_of(request) in WAITING

    def arrange(self, rows: list[Report]) -> list[Report]:
        """The reports of a page on one account are together, at the place of the first one."""
        groups: dict[int, list[Report]] = {}
        for row in rows:
            groups.setdefault(row.account_id, []).append(row)
        return [row for group in groups.values() for row in group]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return with_names(super().get_queryset(request)).select_related("assignee")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Report], search_term: str
    ) -> tuple[QuerySet[Report], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        account_id = parse_account_id(term) or find_account_id(term.removeprefix("@"))
        return queryset.filter(account_id=account_id or 0), False

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        """Adds what the page shows. Cost: two queries here, seven on both accounts' shards, and a
        round trip to Redis.
        """
        report = options["obj"]
        context |= {
            "title": f"{capfirst(report.category)}, report {report.pk}",
            "state": state_chip(report),
            "subtitle": None,
            "report_id": report.pk,
            "sent_from": f"report-{report.pk}",
            "anchor": anchor_of(request, report.pk),
            "can_assign": self.has_change_permission(request),
            "reader": _other_reader(request, report),
            **_about(request, report),
        }
        return super().render_change_form(request, context, *args, **options)

    def response_action(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """Actions of the page of a report lead back to it; if it is resolved now, to the next."""
        answer = super().response_action(request, *args, **options)
        there = page_then(request)
        return redirect(there) if there else answer

    def load_for(self, rows: Sequence[Any]) -> None:
        """The reported accounts and the reporters: two queries a shard."""
        lines = load_lines({i for row in rows for i in (row.account_id, row.reporter_id)})
        for row in rows:
            vars(row)["lines"] = lines

    @admin.display(description="Report")
    def title(self, report: Report) -> str:
        return f"{capfirst(report.category)} {report.pk}"

    @admin.display(description="Account")
    def reported(self, report: Report) -> str:
        """With its restrictions."""
        chips = restriction_chips(vars(report)["restrictions"] or 0)
        return format_html("{} {}", _cell(report, report.account_id, "account_name"), chips)

    @admin.display(description="Reported by")
    def reported_by(self, report: Report) -> str:
        return _cell(report, report.reporter_id, "reporter_name")

    @admin.display(description="State")
    def shown_state(self, report: Report) -> str:
        return state_chip(report)

    @admin.display(description="Posts")
    def posts_named(self, report: Report) -> int:
        return len(report.post_ids)

    @admin.display(description="Comment")
    def excerpt(self, report: Report) -> str:
        return Truncator(report.comment).chars(MOST_OF_COMMENT)

    @admin.action(description="Assign to me", permissions=["change"])
    def assign(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        mine = int(request.user.pk or 0)  # only users who are signed in get here
        self.decide_each(request, queryset, lambda row, origin: assign_report(row.pk, mine, origin))

    @admin.action(description="Resolve", permissions=["change"])
    def resolve(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        now = datetime.now(UTC)
        self.decide_each(request, queryset, lambda row, origin: resolve_report(row.pk, origin, now))
        if (report := report_before(request)) and (done := find_resolution(report.pk)):
            offer_undo(request, "The report is resolved.", done)

    @admin.action(description="Reopen", permissions=["change"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self.decide_each(request, queryset, lambda row, origin: reopen_report(row.pk, origin))


def state_chip(report: Report) -> str:
    return chip(report.state, "open" if report.state == ReportState.OPEN else "")


def _filter_of(request: HttpRequest) -> str:
    """The word of the filter in force, which may be none of its words."""
    is_queue = request.method != "POST" and not request.GET.get(SEARCH_VAR)
    return request.GET.get(QUEUE) or ("open" if is_queue else "all")


def _cell(report: Report, account_id: int, name: str) -> str:
    """An account of a row: `name` is where the query of the list put its username."""
    return account_cell(account_id, vars(report)[name], vars(report)["lines"].get(account_id))


def _about(request: HttpRequest, report: Report) -> dict[str, Any]:
    """The reported account with the reported posts, the reporter, and the account's history."""
    names, account_id = vars(report), report.account_id
    reporter_line = load_lines([report.reporter_id]).get(report.reporter_id)
    facts = read_account_facts(account_id, report.posts)
    latest = [post_id for post_id in facts.latest if post_id not in report.posts]
    return {
        **account_context(request, facts, names["account_name"], names["restrictions"] or 0),
        "reported": account_link(account_id, names["account_name"]),
        "reporter": account_cell(report.reporter_id, names["reporter_name"], reporter_line),
        "reporter_line": reporter_line,
        "posts": [*post_contexts(facts, report.posts)],
        "latest": [*post_contexts(facts, latest)],
        "has_several": len(report.posts) + len(latest) > 1,
        "rules": _rules_of(report),
        "reports": list_reports_on(account_id, besides=report.pk),
        "decisions": list_decisions_on(account_id),
    }


def _other_reader(request: HttpRequest, report: Report) -> str:
    """The name of the moderator who opened this open report before; empty without another."""
    own = int(request.user.pk or 0)
    if report.state != ReportState.OPEN or not request.user.has_perm(DECIDE):
        return ""
    reader = note_reader(report.pk, own)
    names = User.objects.filter(pk=reader).values_list("username", flat=True)
    return "" if reader == own else names.first() or ""


def _rules_of(report: Report) -> list[str]:
    """The texts of the rules that the reporter named."""
    texts = load_rule_texts(report.rule_ids) if report.rule_ids else {}
    return [texts.get(rule, f"Rule {rule}, which was deleted") for rule in report.rule_ids]
