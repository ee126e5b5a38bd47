"""Campaigns in the admin: operators create, edit, pause and resume them; nothing deletes them."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString

from infra.admin.display import chip
from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin
from timelines.promotions.find_post import find_posts
from timelines.promotions.forms import TARGETS, CampaignForm
from timelines.promotions.models import Campaign
from timelines.promotions.preview import draw_preview

LONGEST_SEARCH = 500
SHOWN = ("preview",)
PREVIEW = SafeString(
    '<input type="submit" class="button quiet" name="_preview" value="Preview">'
    " It checks the form, and stores nothing."
)
SECTIONS = (
    ("What is promoted", "", ("name", "kind", "paid_by")),
    (
        "Where and how often",
        "A promotion is between posts of home, never first or last.",
        ("slot", "every", "daily_cap"),
    ),
    ("Its people", "", ("audience_percent", "total_cap")),
    ("When", "In UTC.", ("starts_at", "ends_at")),
    ("What people see", PREVIEW, SHOWN),
    (
        "So far",
        "Served: impressions that people saw. Given out: those that servers may still make too.",
        ("is_paused", "served", "given_out"),
    ),
)
TARGET_FIELDS = ("kind", *(name for names in TARGETS.values() for name in names))


@admin.register(Campaign)
class CampaignAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """Changes reach every page within a few seconds (campaigns.py). Numbers are as late."""

    form = CampaignForm
    change_form_template = "promotions/campaign.html"
    list_display = (
        *("name", "kind", "state", "starts_at", "ends_at"),
        *("served", "total_cap", "daily_cap", "audience_percent"),
    )
    list_filter = ("kind", "is_paused")
    search_fields = ("name",)
    actions = ("pause", "resume")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """The target is read-only after the first impression: the numbers belong to it."""
        always = ("is_paused", "served", "given_out", "preview")
        return (*TARGET_FIELDS, "public_id", *always) if _is_fixed(obj) else always

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A read-only post is shown by its public id; a new campaign has no numbers yet."""
        post = "public_id" if _is_fixed(obj) else "post_id"
        targets = tuple(post if name == "post_id" else name for name in TARGET_FIELDS[1:])
        return [
            (
                title,
                {
                    "description": text,
                    "fields": _with_targets(names, targets),
                    "classes": names[:1],
                },
            )
            for title, text, names in (SECTIONS if obj else SECTIONS[:-1])
        ]

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        if (campaign := options["obj"]) is not None:
            context |= {"title": campaign.name, "subtitle": None}
        return super().render_change_form(request, context, *args, **options)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.find_post)
        return [path("find_post/", view, name="promotions_campaign_find_post"), *super().get_urls()]

    def find_post(self, request: HttpRequest) -> HttpResponse:
        """The search for a post to promote."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        text = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
        outcome = find_posts(text, request.user.pk or 0)
        context = self.admin_site.each_context(request) | {
            "title": "Find a post to promote", "q": text, **outcome._asdict(),
        }  # fmt: skip
        return render(request, "promotions/find_post.html", context)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="State")
    def state(self, campaign: Campaign) -> str:
        now = datetime.now(UTC)
        if campaign.ends_at <= now:
            return chip("ended")
        if campaign.is_paused:
            return chip("paused", "warn")
        return chip("running", "open") if campaign.starts_at <= now else chip("not begun yet")

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


def _section(text: str, fields: tuple[str, ...]) -> dict[str, Any]:
    """The one of the preview has a class, by which it stays next to the form."""
    return {"description": text, "fields": fields, "classes": fields if fields == SHOWN else ()}


def _with_targets(names: tuple[str, ...], targets: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of the target come after the kind."""
    if "kind" not in names:
        return names
    after = names.index("kind") + 1
    return (*names[:after], *targets, *names[after:])


def _is_fixed(campaign: Campaign | None) -> bool:
    """Whether the target is read-only."""
    return campaign is not None and campaign.given_out > 0
