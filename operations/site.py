"""The admin site with the operators' pages, and who may open them.

The site lists these pages before the models. People sign in and out, and change their password, on
the pages: a session of the admin is one of those that a person can see and end.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.second_step.queries.devices import has_second_step, proved_by
from infra.jobs.models import OPERATE
from operations.queries.first_page import list_figures
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
# The section of these tables is this app's; they belong to three apps.
SECURITY = "axes"
_SECURITY_MODELS = (
    *("axes.accessattempt", "axes.accessfailurelog", "axes.accesslog"),
    *("accounts.accesstoken", "auth.group"),
)


class TidelineSite(admin.AdminSite):
    site_header = site_title = "Tideline"
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
        """The list of all pages, below the figures that the viewer looks at first."""
        figures = list_figures(request.user.has_perm, datetime.now(UTC))
        return super().index(request, {"figures": figures, **(extra_context or {})})

    def logout(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return SignOut.as_view()(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return HttpResponseRedirect("/settings/password")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """The index, or one section of it. The lists have the names that their pages have."""
        if app_label not in (None, SECURITY):
            return self._named(super().get_app_list(request, app_label))
        sections = _with_security(self._named(super().get_app_list(request)))
        if app_label == SECURITY:
            return [section for section in sections if section["app_label"] == SECURITY]
        return [_operations(), *sections] if request.user.has_perm(OPERATE) else sections

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


def _with_security(sections: list[Any]) -> list[Any]:
    """Moves the tables of security into one section, wherever their apps are."""
    models = {
        model["model"]._meta.label_lower: model
        for section in sections
        for model in section["models"]
    }
    security = [models[label] for label in _SECURITY_MODELS if label in models]
    others = [
        {**section, "models": left}
        for section in sections
        if (left := [model for model in section["models"] if model not in security])
    ]
    if not security:
        return others
    section = {
        "name": "Security",
        "app_label": SECURITY,
        "app_url": reverse("admin:app_list", args=[SECURITY]),
        "has_module_perms": True,
        "models": security,
    }
    return sorted([*others, section], key=lambda section: section["name"].lower())


def _operations() -> dict[str, Any]:
    """In the shape of an app with one read-only model per page."""
    pages = [_page(name, title) for name, title in PAGES.items()]
    return {
        "name": "Operations",
        "app_label": "operations",
        "app_url": reverse("operations"),
        "has_module_perms": True,
        "models": pages,
    }


def _page(name: str, title: str) -> dict[str, Any]:
    where = reverse(name)
    return {"name": title, "object_name": name, "admin_url": where, "add_url": None,
            "view_only": True, "perms": {"view": True}}  # fmt: skip
