"""The form for a campaign. Its errors say which field is wrong and why."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.queries.load import find_existing
from accounts.queries.users import find_account_id
from infra.api.ids import MAX_ACCOUNT_ID, MOST_DIGITS
from timelines.promotions.find_post import find_post_id, load_promotable
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


PREVIEW = "_preview"


class MomentInput(forms.DateTimeInput):
    """The browser's own field for a day and a time."""

    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M")


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checks bounds and dates, and that only the target of the kind is set."""

    slot = forms.IntegerField(
        min_value=1,
        max_value=HIGHEST_SLOT,
        initial=3,
        label="Below so many posts",
        help_text="At least, on a page, 1 to 39",
    )
    every = forms.IntegerField(
        min_value=1,
        max_value=MOST_EVERY,
        initial=20,
        label="Posts between two",
        help_text="At least, from one promotion to the next, 1 to 1,000",
    )
    daily_cap = forms.IntegerField(
        label="Most a day",
        min_value=1,
        max_value=MOST_A_DAY,
        initial=1,
        help_text="How often a person sees it on a day (UTC), 1 to 100",
    )
    total_cap = forms.IntegerField(
        label="Most in all",
        min_value=1,
        max_value=10**12,
        required=False,
        help_text="How often all people together see it, never more. Empty: no limit",
    )
    audience_percent = forms.IntegerField(
        label="Share of people (%)",
        min_value=0,
        max_value=100,
        initial=100,
        help_text="Chosen by chance, and always the same people. A higher number adds people",
    )
    paid_by = forms.CharField(
        max_length=100,
        required=False,
        help_text='People read it under "Why do I see this?"',
    )
    post_id = forms.CharField(
        label="Post", max_length=200, required=False, help_text="The id or the address of a post"
    )
    account_id = forms.CharField(
        label="Account",
        max_length=200,
        required=False,
        help_text="The name or the id of an account",
    )

    starts_at = forms.DateTimeField(label="From", widget=MomentInput)
    ends_at = forms.DateTimeField(label="Until", widget=MomentInput)

    class Meta:
        model = Campaign
        fields = (
            "name",
            "kind",
            *(name for names in TARGETS.values() for name in names),
            *("slot", "every", "daily_cap", "total_cap", "audience_percent"),
            *("paid_by", "starts_at", "ends_at"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.public_id:
            self.initial["post_id"] = self.instance.public_id

    def is_valid(self) -> bool:
        """A form that is only previewed is never stored: the admin shows it again."""
        return super().is_valid() and PREVIEW not in self.data

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
        if not text:
            return ""
        post_id = find_post_id(text)
        if post_id is None or load_promotable(post_id) is None:
            raise ValidationError("No such post that everybody may read. Find it by its text.")
        return post_id.base36

    def clean_account_id(self) -> int | None:
        text: str = self.cleaned_data["account_id"]
        account_id = _find_account(text.removeprefix("@")) if text else None
        if text and account_id is None:
            raise ValidationError("No such account. Enter the name or the id of an account.")
        return account_id


def _find_account(text: str) -> int | None:
    """The account with this name or id, if it exists."""
    is_id = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    account_id = int(text) if is_id else find_account_id(text)
    if account_id is None or account_id > MAX_ACCOUNT_ID:
        return None
    return account_id if find_existing([account_id]) else None
