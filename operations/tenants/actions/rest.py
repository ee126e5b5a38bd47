"""Waits until a suspended tenant has no process left."""

import time

from operations.tenants.models import Tenant
from operations.tenants.stores import count_sessions
from operations.tenants.types import TenantRefused, TenantState

# The front ends processes within this time: the longest that a web server drains.
WAIT_S = 60.0
_ASK_EVERY_S = 0.5


def refuse_unless_at_rest(tenant: Tenant) -> None:
    """Raises: TenantRefused if the tenant is served, or if sessions of it go on for a minute."""
    if tenant.state == TenantState.ACTIVE:
        raise TenantRefused(
            f"The tenant {tenant} is {tenant.state}. First: manage.py tenants suspend {tenant}"
        )
    deadline = time.monotonic() + WAIT_S
    while sessions := count_sessions(tenant.name):
        if time.monotonic() > deadline:
            raise TenantRefused(
                f"The tenant {tenant} still has {sessions} sessions in its databases: a process of"
                " it has not ended."
            )
        time.sleep(_ASK_EVERY_S)
