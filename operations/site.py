"""The admin site: operators find their pages in its list of apps, before the models."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse

from infra.api.operators import OPERATE

# By the name of the route.
PAGES = {
    "operations": "Live charts",
    "find": "Find an account, a post or an edge",
    "parked_changes": "Parked changes",
    "hot_keys": "Hot keys",
}


class TidelineSite(AdminSite):
    site_header = site_title = "Tideline"

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        models = super().get_app_list(request, app_label)
        if app_label is not None or not request.user.has_perm(OPERATE):
            return models
        return [_operations(), *models]


def _operations() -> dict[str, Any]:
    """In the shape of an app with a model a page, which may be looked at and not added to."""
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
