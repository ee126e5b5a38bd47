"""Campaigns in the admin: operators create, edit, pause and resume them; nothing deletes them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin
from timelines.promotions.forms import TARGETS, CampaignForm
from timelines.promotions.models import Campaign
from timelines.promotions.preview import draw_preview

TARGET_FIELDS = ("kind", *(name for names in TARGETS.values() for name in names))


@admin.register(Campaign)
class CampaignAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """Changes reach every page within a few seconds (campaigns.py). Numbers are as late."""

    form = CampaignForm
    list_display = (
        *("name", "kind", "is_paused", "starts_at", "ends_at"),
        *("served", "given_out", "total_cap", "daily_cap", "audience_percent"),
    )
    list_filter = ("kind", "is_paused")
    search_fields = ("name",)
    actions = ("pause", "resume")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """The target is read-only after the first impression: the numbers belong to it."""
        always = ("is_paused", "served", "given_out", *(("preview",) if obj else ()))
        return (*TARGET_FIELDS, "public_id", *always) if _is_fixed(obj) else always

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A read-only post is shown by its public id."""
        fields = [*super().get_fields(request, obj)]
        return [name for name in fields if name != "post_id"] if _is_fixed(obj) else fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="People see")
    def preview(self, campaign: Campaign) -> SafeString:
        return draw_preview(campaign)

    @admin.action(description="Pause", permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Campaign]) -> None:
        self._set_paused(request, queryset, is_paused=True)

    @admin.action(description="Resume", permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Campaign]) -> None:
        self._set_paused(request, queryset, is_paused=False)

    def _set_paused(
        self, request: HttpRequest, queryset: QuerySet[Campaign], is_paused: bool
    ) -> None:
        if reason := self.reason_of(request):
            word = "Paused" if is_paused else "Resumed"
            for campaign in queryset:
                Campaign.objects.filter(pk=campaign.pk).update(is_paused=is_paused)
                self.log_change(request, campaign, f"{word}: {reason}")


def _is_fixed(campaign: Campaign | None) -> bool:
    """Whether the target is read-only."""
    return campaign is not None and campaign.given_out > 0
