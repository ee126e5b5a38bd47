"""Reads of the list of tenants. One query each; a list has at most a few hundred rows."""

from django.conf import settings

from operations.tenants.models import Tenant
from operations.tenants.types import TenantRefused, TenantState


def list_tenants() -> list[Tenant]:
    """All that were not deleted, in the order in which they were created."""
    return list(Tenant.objects.exclude(state=TenantState.DELETED).order_by("number"))


def find_tenant(name: str) -> Tenant:
    """Raises: TenantRefused if there is none, or in a process that serves a tenant itself."""
    refuse_inside_tenant()
    tenant = Tenant.objects.filter(name=name).first()
    if tenant is None:
        raise TenantRefused(f"There is no tenant {name}.")
    return tenant


def refuse_inside_tenant() -> None:
    """Raises: TenantRefused. A tenant knows nothing of the others."""
    if settings.TENANT:
        raise TenantRefused(f"This is the tenant {settings.TENANT}: run it without TENANT.")
