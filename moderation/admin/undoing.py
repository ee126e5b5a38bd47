"""The button next to the message of a decision that takes the decision back."""

from datetime import UTC, datetime

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from moderation.actions.undo import can_take_back, take_back
from moderation.admin.page_context import DECIDE, PAGE_OF_REPORT, PAGE_OF_USER
from moderation.admin.queue import REFUSED, words_of
from moderation.models import Decision
from moderation.types import DecisionOrigin

TAKEN_BACK = "Taken back by the moderator"
FORM = (
    '{} <form method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    '<button class="button quiet">Undo</button></form>'
)


def offer_undo(request: HttpRequest, words: str, decision: Decision) -> None:
    """The message of a decision, with a button if the decision can be taken back."""
    if can_take_back(decision) and request.user.has_perm(DECIDE):
        where = reverse("undo_decision", args=[decision.pk])
        words = format_html(FORM, words, where, get_token(request))
    messages.success(request, words)


@require_POST
def undo(request: HttpRequest, decision_id: int) -> HttpResponse:
    """Takes back an own decision. Leads to its report, or to the account."""
    if not request.user.has_perm(DECIDE):
        raise PermissionDenied
    decision = get_object_or_404(Decision, pk=decision_id, actor=request.user.pk)
    if not can_take_back(decision):
        raise PermissionDenied
    try:
        take_back(decision, DecisionOrigin(request.user.pk, TAKEN_BACK), datetime.now(UTC))
        messages.success(request, "Taken back.")
    except REFUSED as error:
        messages.error(request, f"Nothing done: {words_of(error)}")
    if decision.report_id is None:
        return redirect(PAGE_OF_USER, decision.account_id)
    return redirect(PAGE_OF_REPORT, decision.report_id)
