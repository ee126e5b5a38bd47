"""The form for a campaign. Its errors say which field is wrong and why."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.queries.load import find_existing
from infra.api.ids import MAX_ACCOUNT_ID, MOST_DIGITS
from posts.ids import MalformedPostId, PostId
from posts.reading.statuses import load_status_json
from timelines.promotions.models import Campaign
from timelines.promotions.types import CampaignKind

# The fields that a kind needs; the fields of the other kinds must be empty.
TARGETS = {
    CampaignKind.POST: ("post_id",),
    CampaignKind.ACCOUNT: ("account_id",),
    CampaignKind.AD: ("ad_title", "ad_text", "ad_url"),
}
# A page has at most 40 entries, and no promotion is below the last one.
HIGHEST_SLOT, MOST_EVERY, MOST_A_DAY = 39, 1_000, 100


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checks bounds and dates, and that only the target of the kind is set."""

    slot = forms.IntegerField(
        min_value=1,
        max_value=HIGHEST_SLOT,
        initial=3,
        help_text="Least number of entries above it on a page",
    )
    every = forms.IntegerField(
        min_value=1,
        max_value=MOST_EVERY,
        initial=20,
        help_text="Least number of entries since the promotion above it",
    )
    daily_cap = forms.IntegerField(
        min_value=1,
        max_value=MOST_A_DAY,
        initial=1,
        help_text="Impressions per person and day (UTC)",
    )
    total_cap = forms.IntegerField(
        min_value=1, max_value=10**12, required=False, help_text="Impressions; empty: no limit"
    )
    audience_percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        initial=100,
        help_text="Share of all people, always the same ones",
    )
    post_id = forms.CharField(max_length=MOST_DIGITS, required=False)
    account_id = forms.IntegerField(min_value=1, max_value=MAX_ACCOUNT_ID, required=False)

    class Meta:
        model = Campaign
        fields = (
            "name",
            "kind",
            *(name for names in TARGETS.values() for name in names),
            *("slot", "every", "daily_cap", "total_cap", "audience_percent"),
            *("starts_at", "ends_at"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["post_id"] = self.instance.public_id

    def clean(self) -> dict[str, Any]:
        values = {**(super().clean() or {})}
        begins, ends = values.get("starts_at"), values.get("ends_at")
        if begins and ends and ends <= begins:
            self.add_error("ends_at", "The campaign ends before it starts.")
        # After the first impression the target fields are read-only and not in the form.
        if "kind" in self.fields and values.get("kind"):
            self._check_target(CampaignKind(values["kind"]), values)
        return values

    def _check_target(self, kind: CampaignKind, values: dict[str, Any]) -> None:
        for owner, names in TARGETS.items():
            for name in names:
                if kind is owner and not values.get(name) and name not in self.errors:
                    self.add_error(name, f"A campaign of kind {kind} needs this field.")
                if kind is not owner and values.get(name):
                    self.add_error(name, f"Leave this empty for a campaign of kind {kind}.")

    def clean_post_id(self) -> str:
        """The id in base36, as rows have it."""
        text: str = self.cleaned_data["post_id"]
        post_id = _find_post(text) if text else None
        if text and post_id is None:
            raise ValidationError("No such post. Enter the id of a post.")
        return post_id.base36 if post_id else ""

    def clean_account_id(self) -> int | None:
        account_id: int | None = self.cleaned_data["account_id"]
        if account_id is not None and not find_existing([account_id]):
            raise ValidationError("No such account. Enter the id of an account.")
        return account_id


def _find_post(text: str) -> PostId | None:
    """The post with this id, if it exists and is not a repost."""
    try:
        post_id = PostId.from_public(text)
    except MalformedPostId:
        return None
    body = load_status_json([post_id]).get(post_id)
    return post_id if body is not None and b'"reblog":{' not in body else None
