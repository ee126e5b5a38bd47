"""Changes what is done with a tenant. The front sees it within a second or two."""

from django.db.models.functions import Now

from operations.tenants.models import Tenant
from operations.tenants.queries import find_tenant
from operations.tenants.types import TenantRefused, TenantState


def suspend_tenant(name: str) -> Tenant:
    """Its hosts answer 403, its streams end and its jobs rest. Raises: TenantRefused."""
    return _change(name, TenantState.SUSPENDED)


def resume_tenant(name: str) -> Tenant:
    """Raises: TenantRefused."""
    return _change(name, TenantState.ACTIVE)


def set_state(tenant: Tenant, state: TenantState) -> Tenant:
    """One query."""
    Tenant.objects.filter(pk=tenant.pk).update(state=state, changed_at=Now())
    tenant.state = state
    return tenant


def _change(name: str, state: TenantState) -> Tenant:
    tenant = find_tenant(name)
    if tenant.state not in (TenantState.ACTIVE, TenantState.SUSPENDED):
        raise TenantRefused(f"The tenant {name} is {tenant.state}.")
    return set_state(tenant, state)
