"""One page of the admin with all texts of the site."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.site_texts.models import SiteRule, SiteTexts
from accounts.types import FIRST_TENANT

MOST_RULES = 50
_DATED = ("about", "privacy")


class SiteRuleInline(admin.StackedInline):  # type: ignore[type-arg]
    model = SiteRule
    extra = 1
    max_num = MOST_RULES


@admin.register(SiteTexts)
class SiteTextsAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Pages and the API show a change within half a minute."""

    fields = ("summary", "run_by", "email", "about", "privacy")
    inlines = (SiteRuleInline,)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """There is one row, so the list leads to it."""
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        SiteTexts.objects.get_or_create(tenant=FIRST_TENANT)
        change = reverse("admin:site_texts_sitetexts_change", args=[FIRST_TENANT])
        return HttpResponseRedirect(change)

    def save_model(self, request: HttpRequest, obj: SiteTexts, form: Any, change: bool) -> None:
        for name in _DATED:
            if name in form.changed_data:
                setattr(obj, f"{name}_changed_at", datetime.now(UTC))
        super().save_model(request, obj, form, change)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
