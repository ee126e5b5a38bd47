"""The admin site with the operators' pages, and who may open them.

The site lists these pages before the models. People sign in and out, and change their password, on
the pages: a session of the admin is one of those that a person can see and end.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from infra.jobs.models import OPERATE
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

    def get_urls(self) -> list[Any]:
        """Without "View on site": no row has a page of its own there, and the toolkit's
        applications name a route that this site lacks.
        """
        urls = super().get_urls()
        return [url for url in urls if getattr(url, "name", "") != "view_on_site"]

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The sign-in page of all people, and then back. Raises: PermissionDenied for those who
        are signed in and do not work here.
        """
        if self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index"))
        if request.user.is_authenticated:
            raise PermissionDenied
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index")))

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
