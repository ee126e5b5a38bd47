"""The forms on the page of parked changes."""

from typing import Any

from django import forms

from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.shards import all_aliases

MAX_ID = 2**63 - 1
LONGEST_KIND = 64
LONGEST_ID = 19  # digits of MAX_ID
LONGEST_REASON = 500


def _shards() -> list[tuple[str, str]]:
    return [(alias, alias) for alias in all_aliases()]


class ParkedFilterForm(forms.Form):
    """Chooses the parked changes to list. Without `shard`, those of the default database."""

    shard = forms.ChoiceField(choices=_shards, required=False)
    kind = forms.CharField(max_length=LONGEST_KIND, required=False)
    owner = forms.IntegerField(
        min_value=0, max_value=MAX_ID, required=False, label="Owner's id", widget=forms.TextInput
    )
    after = forms.IntegerField(
        min_value=0, max_value=MAX_ID, required=False, widget=forms.HiddenInput
    )

    def clean_shard(self) -> str:
        return self.cleaned_data["shard"] or GLOBAL_ALIAS


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
