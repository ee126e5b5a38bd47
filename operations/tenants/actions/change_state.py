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
    """Raises: TenantRefused if its state has changed since it was read. One query."""
    unchanged = Tenant.objects.filter(pk=tenant.pk, state=tenant.state)
    if not unchanged.update(state=state, changed_at=Now()):
        raise TenantRefused(f"Another command changes the tenant {tenant}. Try again.")
    tenant.state = state
    return tenant


def refuse_unless_served(tenant: Tenant) -> None:
    """Raises: TenantRefused for one that is created or deleted at the moment, or was."""
    if tenant.state not in (TenantState.ACTIVE, TenantState.SUSPENDED):
        raise TenantRefused(f"The tenant {tenant} is {tenant.state}.")


def refuse_if_changed(tenant: Tenant) -> None:
    """Raises: TenantRefused if any command has changed it since it was read. One query."""
    if find_tenant(tenant.name).changed_at != tenant.changed_at:
        raise TenantRefused(f"The tenant {tenant} was changed by another command. Begin again.")


def _change(name: str, state: TenantState) -> Tenant:
    tenant = find_tenant(name)
    refuse_unless_served(tenant)
    return set_state(tenant, state)
