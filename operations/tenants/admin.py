"""The admin's list of tenants: in that of the installation only."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from infra.admin.keyset import ReadOnlyKeysetAdmin
from operations.tenants.actions.change_state import resume_tenant, suspend_tenant
from operations.tenants.models import Tenant
from operations.tenants.types import TenantRefused


class TenantAdmin(ReadOnlyKeysetAdmin):
    """`manage.py tenants` creates, exports and deletes. Here an operator suspends and resumes."""

    list_display = ("name", "state", "hosts", "url", "created_at", "changed_at")
    list_filter = ("state",)
    actions = ("suspend", "resume")

    @admin.action(description="Suspend")
    def suspend(self, request: HttpRequest, tenants: QuerySet[Tenant]) -> None:
        self._change(request, tenants, suspend_tenant)

    @admin.action(description="Resume")
    def resume(self, request: HttpRequest, tenants: QuerySet[Tenant]) -> None:
        self._change(request, tenants, resume_tenant)

    def _change(self, request: HttpRequest, tenants: QuerySet[Tenant], change: Any) -> None:
        for tenant in tenants:
            try:
                changed = change(tenant.name)
            except TenantRefused as error:
                self.message_user(request, str(error), level="error")
            else:
                self.message_user(request, f"{changed} is {changed.state}.")


if not settings.TENANT:
    admin.site.register(Tenant, TenantAdmin)
