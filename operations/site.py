"""The admin site with the operators' pages, and who may open them.

The site lists these pages before the models. People sign in and out, and change their password, on
the pages: a session of the admin is one of those that a person can see and end.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.second_step.queries import has_second_step, proved_by
from infra.jobs.models import OPERATE
from moderation.queries.waiting import list_waiting
from operations.queries.first_page import SEE_REPORTS, read_overview
from operations.types import CurveSpan
from pages.signing_in import SECOND_STEP
from pages.views.own_second_step import PLACE as ADD_SECOND_STEP
from pages.views.sign_in import SignOut

View = Callable[..., HttpResponse]

# Title by name of the route.
PAGES = {
    "operations": "Live charts",
    "find": "Find an account, a post or an edge",
    "parked_changes": "Parked changes",
    "hot_keys": "Hot keys",
    "moves": "Moves",
}


class NavigationGroup(NamedTuple):
    """A group of lists in the navigation. `app_label`: whose page of lists it leads to."""

    name: str
    app_label: str
    models: tuple[str, ...]


# In the order in which people open them. A list of an app that is not named here follows in a
# section of its app.
MODERATION = NavigationGroup(
    "Moderation",
    "moderation",
    (
        *("moderation.report", "moderation.appeal", "accounts.user", "moderation.decision"),
        *("moderation.jointdecision", "moderation.timedrestriction"),
    ),
)
OPERATIONS = NavigationGroup("Operations", "operations", ("jobs.jobrun", "tenants.tenant"))
THIS_SITE = NavigationGroup(
    "This site",
    "site_texts",
    ("site_texts.sitetexts", "promotions.campaign", "accounts.application"),
)
SECURITY = NavigationGroup(
    "Security",
    "axes",
    ("axes.accessattempt", "accounts.accesstoken", "auth.group"),
)
SECTIONS = (OPERATIONS, MODERATION, THIS_SITE, SECURITY)


class TidelineSite(admin.AdminSite):
    site_header = site_title = settings.INSTANCE_TITLE
    index_title = "Overview"
    index_template = "operations/first_page.html"

    def get_urls(self) -> list[Any]:
        """Without "View on site": no row has a page of its own there, and the toolkit's
        applications name a route that this site lacks.
        """
        urls = super().get_urls()
        return [url for url in urls if getattr(url, "name", "") != "view_on_site"]

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, after the second step. Cost: one query a request for those without one."""
        return super().has_permission(request) and not _needs_second_step(request.user)

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The sign-in page of all people, and then back. For staff who are signed in: the page of
        the second step, or that where one is added. Raises: PermissionDenied for other people.
        """
        there = request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index"))
        if self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index"))
        if not request.user.is_authenticated:
            return redirect_to_login(there)
        if not super().has_permission(request):
            raise PermissionDenied
        if has_second_step(request.user.pk):
            return redirect_to_login(there, SECOND_STEP)
        return HttpResponseRedirect(ADD_SECOND_STEP)

    def index(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """What the viewer looks at first: how all is, and what waits for a decision."""
        asked = request.GET.get("curves")
        span = CurveSpan.DAY if asked == CurveSpan.DAY else CurveSpan.HOUR
        overview = read_overview(request.user.has_perm, datetime.now(UTC), span)
        context: dict[str, Any] = {"overview": overview}
        if request.user.has_perm(SEE_REPORTS):
            context |= {"waiting": list_waiting()}
        return super().index(request, {**context, **(extra_context or {})})

    def logout(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return SignOut.as_view()(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return HttpResponseRedirect("/settings/password")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """The index, or one section of it. The lists have the names that their pages have."""
        if app_label not in (None, SECURITY.app_label):
            return self._named(super().get_app_list(request, app_label))
        pages = _pages() if request.user.has_perm(OPERATE) else []
        sections = _in_sections(self._named(super().get_app_list(request)), pages)
        if app_label is None:
            return sections
        return [section for section in sections if section["app_label"] == app_label]

    def _named(self, sections: list[Any]) -> list[Any]:
        for model in (model for section in sections for model in section["models"]):
            title = getattr(self._registry[model["model"]], "list_title", "")
            model["name"] = title or model["name"]
        return sections


def operator_page(view: View) -> View:
    """The view for operators. Other staff gets 403; everybody else gets the sign-in page."""
    return admin.site.admin_view(permission_required(OPERATE, raise_exception=True)(view))


def page_context(request: HttpRequest, title: str) -> dict[str, Any]:
    """The context that the admin's frame needs around a page."""
    return {**admin.site.each_context(request), "title": title}


def _needs_second_step(user: Any) -> bool:
    """Whether the session of a member of staff must prove more. Kept on the request's user: a page
    of the admin asks several times.
    """
    if proved_by(user):
        return False
    if not hasattr(user, "needs_second_step"):
        user.needs_second_step = settings.SECOND_STEP_FOR_STAFF or has_second_step(user.pk)
    return bool(user.needs_second_step)


def _in_sections(apps: list[Any], pages: list[Any]) -> list[Any]:
    """The lists in SECTIONS, wherever their apps are; `pages` come first in that of operations."""
    models = {model["model"]._meta.label_lower: model for app in apps for model in app["models"]}
    named = {OPERATIONS.name: pages}
    sections = []
    for section in SECTIONS:
        own = [models.pop(label) for label in section.models if label in models]
        if shown := [*named.get(section.name, []), *own]:
            sections.append(_section(section, shown))
    left = [*models.values()]
    unnamed = [
        {**app, "models": others}
        for app in apps
        if (others := [model for model in app["models"] if model in left])
    ]
    return [*sections, *unnamed]


def _section(section: NavigationGroup, models: list[Any]) -> dict[str, Any]:
    """In the shape of an app."""
    is_ours = section is OPERATIONS
    return {
        "name": section.name,
        "app_label": section.app_label,
        "app_url": reverse("operations")
        if is_ours
        else reverse("admin:app_list", args=[section.app_label]),
        "has_module_perms": True,
        "models": models,
    }


def _pages() -> list[Any]:
    """The operators' pages, each in the shape of a read-only model."""
    return [_page(name, title) for name, title in PAGES.items()]


def _page(name: str, title: str) -> dict[str, Any]:
    where = reverse(name)
    return {"name": title, "object_name": name, "admin_url": where, "add_url": None,
            "view_only": True, "perms": {"view": True}}  # fmt: skip
