"""Pages of the admin that belong to no model: for operators, and nobody else on the staff."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse

# Declared by infra.jobs.models.JobRun; the group `operator` has it.
OPERATE = "jobs.operate"
View = Callable[..., HttpResponse]


def operator_page(view: View) -> View:
    """The view for those who may operate. Other staff gets 403; who is not staff, the sign-in."""
    return admin.site.admin_view(permission_required(OPERATE, raise_exception=True)(view))


def page_context(request: HttpRequest, title: str) -> dict[str, Any]:
    """What the admin's frame needs around a page."""
    return {**admin.site.each_context(request), "title": title}
