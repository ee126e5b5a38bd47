"""The report that a moderator opens after this one, and the address that leads to it.

A report that follows because it is on the same account says where the queue goes on after it:

    /admin/moderation/report/9/change/?from=4    after report 9, the next after report 4
"""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from infra.admin.keyset import LONGEST_ID
from moderation.admin.page_context import PAGE_OF_REPORT, page_before, report_before
from moderation.cache import load_readers
from moderation.models import Report
from moderation.types import ReportState

FROM = "from"
NONE_WAITS = "No other report waits."
# So many are tried for one that no other moderator has open.
MOST_TRIED = 10


def page_then(request: HttpRequest) -> str:
    """Where a form of the page of a report or user leads: to the next report if this one is
    resolved now, else back. Empty for other pages of the admin. Cost: four queries and a round trip
    to Redis at most.
    """
    report = report_before(request)
    if report is None or report.state == ReportState.OPEN:
        return page_before(request)
    waiting, begin = _waiting_for(request).exclude(pk=report.pk), anchor_of(request, report.pk)
    same = waiting.filter(account_id=report.account_id)
    following = _first_free(request, same, waiting.filter(pk__gt=begin), waiting)
    is_same = following is not None and following.account_id == report.account_id
    return f"{_page_of(request, following)}{f'?{urlencode({FROM: begin})}' if is_same else ''}"


@require_safe
def show_neighbour(request: HttpRequest, report_id: int, side: str) -> HttpResponse:
    """Leads to the next or the previous report that waits. One query by index, and a round trip."""
    if not request.user.has_perm("moderation.view_report"):
        raise PermissionDenied
    report, waiting = get_object_or_404(Report, pk=report_id), _waiting_for(request)
    begin = anchor_of(request, report.pk)
    later, earlier = waiting.filter(pk__gt=begin), waiting.filter(pk__lt=begin).reverse()
    return redirect(_page_of(request, _first_free(request, later if side == "next" else earlier)))


def anchor_of(request: HttpRequest, report_id: int) -> int:
    """The report after which the queue goes on: as the address or the form says, else this one."""
    text = request.POST.get(FROM) or request.GET.get(FROM, "")
    is_id = text.isascii() and text.isdigit() and len(text) <= LONGEST_ID
    return int(text) if is_id else report_id


def _first_free(request: HttpRequest, *parts: QuerySet[Report]) -> Report | None:
    """The first that no other moderator has open. If others have all, the first, so that none is
    left out for good."""
    rows = [report for part in parts for report in part[:MOST_TRIED]]
    readers, own = load_readers([report.pk for report in rows]), request.user.pk
    free = (report for report in rows if readers.get(report.pk, own) == own)
    return next(free, rows[0] if rows else None)


def _page_of(request: HttpRequest, report: Report | None) -> str:
    if report is None:
        messages.info(request, NONE_WAITS)
        return reverse("admin:moderation_report_changelist")
    return reverse(PAGE_OF_REPORT, args=[report.pk])


def _waiting_for(request: HttpRequest) -> QuerySet[Report]:
    """The oldest first, without those that other moderators have."""
    own = Q(assignee=None) | Q(assignee=request.user.pk)
    return Report.objects.filter(own, state=ReportState.OPEN).order_by("pk")
