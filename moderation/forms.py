"""The admin forms in which moderators enter decisions and appeals, and operators passwords.

The fields of forms that say how long a restriction lasts.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.actions.change_password import end_sign_ins
from accounts.actions.lock_user import lock_user
from accounts.queries.users import find_account_id, is_user
from infra.api.errors import TidelineError
from infra.api.ids import parse_account_id
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.timed_restrictions import check_end
from moderation.models import APPEAL_LENGTH, REASON_LENGTH, Appeal, Decision
from moderation.types import (
    ACCOUNT_DECISIONS,
    POST_DECISIONS,
    STRIKES,
    TIMED_DECISIONS,
    DecisionKind,
)
from posts.ids import MalformedPostId, PostId

UNTIL = "until"
LASTS = [
    *(("", "for good"), ("1", "1 day"), ("7", "7 days"), ("30", "30 days")),
    (UNTIL, "until a date"),
]


USUAL_DAYS = "7"


class EndFields(forms.Form):
    """How long a restriction lasts: for good, so many days, or until a moment."""

    lasts = forms.ChoiceField(choices=LASTS, required=False, label="How long")
    until = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        label="Until",
        help_text="In UTC, for a measure until a date.",
    )

    def read_end(
        self, values: Mapping[str, Any], kind: DecisionKind | None, now: datetime
    ) -> datetime | None:
        """The end that was chosen; None for good. Adds the faults to the form."""
        lasts, until = values.get("lasts", ""), values.get("until")
        if lasts == UNTIL and until is None and "until" not in self.errors:
            self.add_error("until", "Choose a date.")
        end: datetime | None = now + timedelta(days=int(lasts)) if lasts.isdigit() else until
        try:
            check_end(kind, end, now)
        except TidelineError as error:
            self.add_error("until", f"{error}.")
        return end


ENTERED = [(kind.value, kind.value) for kind in (*ACCOUNT_DECISIONS, *POST_DECISIONS)]


class UserPasswordForm(AdminPasswordChangeForm):  # type: ignore[type-arg]
    """An operator's new password for a user. It ends what was begun with the one before."""

    def save(self, commit: bool = True) -> Any:
        with transaction.atomic(using=GLOBAL_ALIAS):
            lock_user(self.user.pk)
            user = super().save(commit)
            end_sign_ins(user.pk)
        return user


class DecisionForm(forms.ModelForm, EndFields):  # type: ignore[type-arg]
    """A decision: its kind, the account or post, how long, and the reason."""

    kind = forms.ChoiceField(choices=ENTERED, label="Decision")
    target = forms.CharField(
        max_length=200, help_text="An account's name or id; to hide, show or delete a post its id"
        " or link",
    )  # fmt: skip
    reason = forms.CharField(
        max_length=REASON_LENGTH, widget=forms.Textarea, help_text="The account can read it."
    )

    class Meta:
        model = Decision
        fields = ("kind", "reason", "report")

    def clean(self) -> dict[str, Any]:
        values = {**(super().clean() or {})}
        text = values.get("target", "").strip()
        if text and "kind" in values:
            is_post = values["kind"] in POST_DECISIONS
            values["target"] = _find_post(text) if is_post else find_account(text)
            if values["target"] is None:
                kind = "post" if is_post else "account"
                self.add_error("target", f"There is no such {kind}.")
        # The page of a report or user has days chosen from the start, and hides them for a warning.
        if "sent_from" in self.data and values.get("kind") not in TIMED_DECISIONS:
            values["lasts"] = ""
        if "kind" in values:
            values["ends_at"] = self.read_end(
                values, DecisionKind(values["kind"]), datetime.now(UTC)
            )
        return values


class AppealForm(forms.ModelForm):  # type: ignore[type-arg]
    """An appeal that arrived outside the API. Suspended accounts cannot use the API to appeal."""

    text = forms.CharField(max_length=APPEAL_LENGTH, widget=forms.Textarea)

    class Meta:
        model = Appeal
        fields = ("decision", "text")

    def clean_decision(self) -> Decision:
        decision: Decision = self.cleaned_data["decision"]
        if decision.kind not in STRIKES:
            raise ValidationError("An appeal against this kind of decision is not possible.")
        return decision


def find_account(text: str) -> int | None:
    """The account with this name or id, or None."""
    account_id = parse_account_id(text)
    if account_id is not None:
        return account_id if is_user(account_id) else None
    return find_account_id(text.removeprefix("@"))


def _find_post(text: str) -> PostId | None:
    try:
        return PostId.from_public(urlsplit(text).path.rstrip("/").rpartition("/")[2])
    except (MalformedPostId, ValueError):
        return None
