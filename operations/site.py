"""The admin site with the operators' pages, and who may open them.

The site lists these pages before the models.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

# infra.jobs.models.JobRun declares this permission; the group `operator` has it.
OPERATE = "jobs.operate"
View = Callable[..., HttpResponse]

# Title by name of the route.
PAGES = {
    "operations": "Live charts",
    "find": "Find an account, a post or an edge",
    "parked_changes": "Parked changes",
    "hot_keys": "Hot keys",
}


class TidelineSite(admin.AdminSite):
    site_header = site_title = "Tideline"

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        models = super().get_app_list(request, app_label)
        if app_label is not None or not request.user.has_perm(OPERATE):
            return models
        return [_operations(), *models]


def operator_page(view: View) -> View:
    """The view for operators. Other staff gets 403; everybody else gets the sign-in page."""
    return admin.site.admin_view(permission_required(OPERATE, raise_exception=True)(view))


def page_context(request: HttpRequest, title: str) -> dict[str, Any]:
    """The context that the admin's frame needs around a page."""
    return {**admin.site.each_context(request), "title": title}


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
