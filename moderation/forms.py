"""What moderators enter: acts and appeals, with errors that say what is wrong and where."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from accounts.queries.users import find_account_id, is_user
from infra.api.ids import parse_account_id
from moderation.models import APPEAL_LENGTH, REASON_LENGTH, Appeal, Decision
from moderation.types import ACCOUNT_DECISIONS, POST_DECISIONS, STRIKES
from posts.ids import MalformedPostId, PostId

ENTERED = [(act.value, act.value) for act in (*ACCOUNT_DECISIONS, *POST_DECISIONS)]


class DecisionForm(forms.ModelForm):  # type: ignore[type-arg]
    """An act, on whom or on what, and why."""

    act = forms.ChoiceField(choices=ENTERED)
    target = forms.CharField(
        max_length=200, help_text="An account's name or id; to hide, show or delete a post its id"
        " or link",
    )  # fmt: skip
    reason = forms.CharField(
        max_length=REASON_LENGTH, widget=forms.Textarea, help_text="The account can read it."
    )

    class Meta:
        model = Decision
        fields = ("act", "reason", "report")

    def clean(self) -> dict[str, Any]:
        values = {**(super().clean() or {})}
        text = values.get("target", "").strip()
        if text and "act" in values:
            is_post = values["act"] in POST_DECISIONS
            values["target"] = _find_post(text) if is_post else _find_account(text)
            if values["target"] is None:
                kind = "post" if is_post else "account"
                self.add_error("target", f"There is no such {kind}.")
        return values


class AppealForm(forms.ModelForm):  # type: ignore[type-arg]
    """An appeal that came by another way, as those of suspended accounts must."""

    text = forms.CharField(max_length=APPEAL_LENGTH, widget=forms.Textarea)

    class Meta:
        model = Appeal
        fields = ("act", "text")

    def clean_act(self) -> Decision:
        act: Decision = self.cleaned_data["act"]
        if act.act not in STRIKES:
            raise ValidationError("There is nothing to appeal against in this act.")
        return act


def _find_account(text: str) -> int | None:
    account_id = parse_account_id(text)
    if account_id is not None:
        return account_id if is_user(account_id) else None
    return find_account_id(text.removeprefix("@"))


def _find_post(text: str) -> PostId | None:
    try:
        return PostId.from_public(urlsplit(text).path.rstrip("/").rpartition("/")[2])
    except (MalformedPostId, ValueError):
        return None
