"""The fields of forms that say how long a restriction lasts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms

from infra.api.errors import TidelineError
from moderation.actions.ends import check_end
from moderation.types import DecisionKind

UNTIL = "until"
LASTS = [
    *(("", "for good"), ("1", "1 day"), ("7", "7 days"), ("30", "30 days")),
    (UNTIL, "until a date"),
]


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
