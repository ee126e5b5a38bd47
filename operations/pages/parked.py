"""Parked changes: why each is parked, and buttons to retry or discard them.

The forms on the page of parked changes.
"""

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe
from redis.exceptions import RedisError

from infra.changes.errors import UNREACHABLE
from infra.changes.lag import LAG
from infra.changes.models import Change
from infra.changes.parking import (
    ChangeSelection,
    UndeliveredChange,
    discard_parked,
    list_parked,
    retry_parked,
)
from infra.changes.pausing import KindPause, list_pauses
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.probe import error_line, probe_all
from infra.sharding.shards import all_aliases
from operations.admin_history import record_history
from operations.site import page_context

MAX_ID = 2**63 - 1
LONGEST_KIND = 64
LONGEST_ID = 19  # digits of MAX_ID
LONGEST_REASON = 500


def _shards() -> list[tuple[str, str]]:
    return [(alias, alias) for alias in all_aliases()]


class ParkedFilterForm(forms.Form):
    """Chooses the parked changes. Without `shard`: of the first database that has any."""

    shard = forms.ChoiceField(choices=_shards, required=False)
    kind = forms.CharField(max_length=LONGEST_KIND, required=False)
    owner = forms.IntegerField(
        min_value=0, max_value=MAX_ID, required=False, label="Owner's id", widget=forms.TextInput
    )
    after = forms.IntegerField(
        min_value=0, max_value=MAX_ID, required=False, widget=forms.HiddenInput
    )


class ParkedActionForm(forms.Form):
    """An action on parked changes, and its reason."""

    RETRY, DISCARD = "retry", "discard"

    shard = forms.ChoiceField(choices=_shards)
    act = forms.ChoiceField(choices=[(RETRY, "Try again"), (DISCARD, "Discard for good")])
    ids = forms.TypedMultipleChoiceField(coerce=int)
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        # The action itself ignores ids that are not parked.
        named = [(id_, id_) for id_ in data.getlist("ids") if _is_id(id_)]
        self.fields["ids"].choices = named  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = {**(super().clean() or {})}
        if values.get("act") == self.DISCARD and not values.get("reason", "").strip():
            self.add_error("reason", "Give a reason for discarding.")
        return values


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID and int(text) <= MAX_ID


PAGE = 50


@require_safe
def show_parked(request: HttpRequest) -> HttpResponse:
    """A page of one database, by id. Cost: two queries there, one round trip to Redis."""
    form = ParkedFilterForm(request.GET)
    tabs, chosen = _count_parked(), form.cleaned_data if form.is_valid() else {}
    alias = chosen.get("shard") or next((name for name, count in tabs if count), GLOBAL_ALIAS)
    rows, paused, problem = [], [], ""
    if form.is_valid():
        answer = probe_all({alias: partial(_ask, alias, chosen)})[alias]
        (rows, paused), problem = answer.value or ([], []), answer.problem
    context = {
        "form": form,
        "alias": alias,
        "tabs": tabs,
        "changes": rows[:PAGE],
        "paused": paused,
        "problem": problem,
        "older": _page_after(chosen | {"shard": alias}, rows),
        # Not the form class: a template would call it.
        "acts": {"retry": ParkedActionForm.RETRY, "discard": ParkedActionForm.DISCARD},
    }
    title = f"Parked changes of {alias}"
    return render(request, "operations/parked.html", page_context(request, title) | context)


@require_POST
def act_on_parked(request: HttpRequest) -> HttpResponse:
    """Retries or discards the chosen changes, then redirects to the list."""
    form = ParkedActionForm(request.POST)
    if form.is_valid():
        _run_action(request, form.cleaned_data)
    else:
        for name, errors in form.errors.items():
            messages.error(
                request, f"Nothing done. {name.capitalize()}: {' '.join(map(str, errors))}"
            )
    shard = form.cleaned_data.get("shard", GLOBAL_ALIAS)
    return redirect(f"{reverse('parked_changes')}?{urlencode({'shard': shard})}")


def _run_action(request: HttpRequest, form: dict[str, Any]) -> None:
    alias, ids, reason = form["shard"], form["ids"], form["reason"]
    try:
        if form["act"] == ParkedActionForm.DISCARD:
            count, done = (
                discard_parked(alias, ids, reason, request.user.get_username()),
                "discarded",
            )
        else:
            count, done = retry_parked(alias, ids), "put back into the queue"
    except UNREACHABLE as error:
        messages.error(request, f"The result is unknown: {error_line(error)}. Check the list.")
        return
    named = f"{', '.join(f'#{id_}' for id_ in ids)} of {alias}"
    record_history(request, Change, alias, f"Parked changes {named}", f"{count} {done}. {reason}")
    messages.success(request, f"{count} of {len(ids)} {done}")


def _ask(alias: str, chosen: dict[str, Any]) -> tuple[list[UndeliveredChange], list[KindPause]]:
    choice = ChangeSelection(chosen["kind"] or None, chosen["owner"])
    return list_parked(alias, chosen["after"] or 0, PAGE + 1, choice), list_pauses(alias)


def _count_parked() -> list[tuple[str, int | None]]:
    """Parked changes by database, from the compensators' last reports. None: no report."""
    try:
        reports = LAG.read(all_aliases())
    except RedisError:
        reports = {}
    counts = {alias: sum(lag.parked for lag in report.lags) for alias, report in reports.items()}
    return [(alias, counts.get(alias)) for alias in all_aliases()]


def _page_after(chosen: dict[str, Any], rows: list[UndeliveredChange]) -> str:
    """The query string of the next page; empty on the last page."""
    if len(rows) <= PAGE:
        return ""
    filters = {name: value for name, value in chosen.items() if value not in (None, "")}
    return urlencode(filters | {"after": rows[PAGE - 1].id})
