"""Which targets were chosen for a decision on several, and the form that says what to do."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

from django import forms
from django.http import QueryDict

from infra.api.ids import parse_account_id
from moderation.end_fields import UNTIL, EndFields
from moderation.models import REASON_LENGTH, Report
from moderation.types import ACCOUNT_DECISIONS, POST_DECISIONS, DecisionKind, JointPlan
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
