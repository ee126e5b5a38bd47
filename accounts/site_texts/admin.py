"""One page of the admin with all texts of the site."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.queries.users import find_account_id
from accounts.site_texts.models import LONGEST_REASON, MOST_REASONS, SiteRule, SiteTexts
from accounts.site_texts.types import split_reasons

MOST_RULES = 50
_DATED = ("about", "privacy")


class SiteRuleInline(admin.StackedInline):  # type: ignore[type-arg]
    model = SiteRule
    extra = 1
    max_num = MOST_RULES


class SiteTextsForm(forms.ModelForm):  # type: ignore[type-arg]
    """Refuses an account that does not exist, and reasons that the forms of moderators would not
    take."""

    def clean_contact(self) -> str:
        username: str = self.cleaned_data["contact"].strip().removeprefix("@")
        if username and find_account_id(username) is None:
            raise ValidationError(f"There is no account @{username}.")
        return username

    def clean_reasons(self) -> str:
        text: str = self.cleaned_data["reasons"]
        reasons = split_reasons(text)
        if len(reasons) > MOST_REASONS:
            raise ValidationError(f"At most {MOST_REASONS} reasons.")
        if any(len(reason) > LONGEST_REASON for reason in reasons):
            raise ValidationError(f"A reason has at most {LONGEST_REASON} characters.")
        return text


@admin.register(SiteTexts)
class SiteTextsAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Pages and the API show a change within half a minute."""

    form = SiteTextsForm
    fields = ("summary", "run_by", "email", "contact", "about", "privacy", "reasons")
    inlines = (SiteRuleInline,)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """There is one row, so the list leads to it."""
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        texts, _ = SiteTexts.objects.get_or_create()
        change = reverse("admin:site_texts_sitetexts_change", args=[texts.pk])
        return HttpResponseRedirect(change)

    def save_model(self, request: HttpRequest, obj: SiteTexts, form: Any, change: bool) -> None:
        for name in _DATED:
            if name in form.changed_data:
                setattr(obj, f"{name}_changed_at", datetime.now(UTC))
        super().save_model(request, obj, form, change)

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        """The title once, and labels without a colon."""
        context["adminform"].form.label_suffix = ""
        shown = {**context, "title": "Texts of the site", "subtitle": None}
        return super().render_change_form(request, shown, *args, **options)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
