"""What an operator may enter as a campaign; errors say what is wrong and where."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.queries.load import find_existing
from infra.api.ids import MAX_ACCOUNT_ID
from posts.ids import MalformedPostId, PostId
from posts.queries.statuses import load_status_json
from timelines.promotions.models import Campaign
from timelines.promotions.types import CampaignKind

# What a kind needs; everything else must be empty.
TARGETS = {
    CampaignKind.POST: ("post_id",),
    CampaignKind.ACCOUNT: ("account_id",),
    CampaignKind.AD: ("ad_title", "ad_text", "ad_url"),
}
# A page has 40 entries at most, and nothing stands below the last.
HIGHEST_SLOT, MOST_EVERY, MOST_A_DAY = 39, 1_000, 100


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    """`slot` and the caps within bounds, dates in order, and exactly the target of its kind."""

    slot = forms.IntegerField(
        min_value=1, max_value=HIGHEST_SLOT, initial=3, help_text="Entries above it on a page"
    )
    every = forms.IntegerField(
        min_value=1,
        max_value=MOST_EVERY,
        initial=20,
        help_text="Entries, at least, since the promotion above it",
    )
    daily_cap = forms.IntegerField(
        min_value=1, max_value=MOST_A_DAY, initial=1, help_text="Impressions a person and day (UTC)"
    )
    total_cap = forms.IntegerField(
        min_value=1, max_value=10**12, required=False, help_text="Impressions; empty: no end"
    )
    audience_percent = forms.IntegerField(
        min_value=0, max_value=100, initial=100, help_text="Of all people, always the same ones"
    )
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

    def clean(self) -> dict[str, Any]:
        values = {**(super().clean() or {})}
        begins, ends = values.get("starts_at"), values.get("ends_at")
        if begins and ends and ends <= begins:
            self.add_error("ends_at", "It ends before it starts.")
        # Of a campaign that was shown the target is shown only, not entered.
        if "kind" in self.fields and values.get("kind"):
            self._check_target(CampaignKind(values["kind"]), values)
        return values

    def _check_target(self, kind: CampaignKind, values: dict[str, Any]) -> None:
        for owner, names in TARGETS.items():
            for name in names:
                if kind is owner and not values.get(name) and name not in self.errors:
                    self.add_error(name, f"A campaign of kind {kind} needs it.")
                if kind is not owner and values.get(name):
                    self.add_error(name, f"A campaign of kind {kind} has none.")

    def clean_post_id(self) -> str:
        text: str = self.cleaned_data["post_id"]
        if text and not _is_post(text):
            raise ValidationError("There is no such post: give its id, 14 letters and digits.")
        return text

    def clean_account_id(self) -> int | None:
        account_id: int | None = self.cleaned_data["account_id"]
        if account_id is not None and not find_existing([account_id]):
            raise ValidationError("There is no such account: give its id.")
        return account_id


def _is_post(text: str) -> bool:
    """Whether it may be promoted: a post that exists, not a repost of another."""
    try:
        post_id = PostId.from_public(text)
    except MalformedPostId:
        return False
    body = load_status_json([post_id]).get(post_id)
    return body is not None and b'"reblog":{' not in body
