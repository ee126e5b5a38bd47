"""Deletes all that a tenant has, and keeps a certificate of what that was."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from infra.changes.failpoints import failpoint
from operations.tenants.actions.change_state import set_state
from operations.tenants.actions.rest import refuse_unless_at_rest
from operations.tenants.files import count_images, erase_images
from operations.tenants.models import Tenant
from operations.tenants.queries import find_tenant
from operations.tenants.stores import (
    count_keys,
    count_rows,
    databases_of,
    drop_database,
    empty_redis,
    has_database,
    size_of_database,
)
from operations.tenants.types import TenantState


def delete_tenant(name: str, say: Callable[[str], object]) -> dict[str, Any]:
    """Returns the certificate. It stays in the tenant's row, so the name is never used again.

    Safety: killed at any place, the same call goes on: all is counted and written down before it is
    deleted. Raises: TenantRefused. Cost: counts all rows.
    """
    tenant = find_tenant(name)
    if tenant.state == TenantState.DELETED:
        return dict(tenant.certificate or {})
    refuse_unless_at_rest(tenant)
    set_state(tenant, TenantState.DELETING)
    for alias, database in databases_of(name).items():
        _delete_database(tenant, alias, database, say)
    _note_first(tenant, "images", lambda: count_images(name))
    failpoint("tenants.images_counted")
    erase_images(name)
    say("erased its images")
    _note_first(tenant, "redis_keys", lambda: count_keys(tenant))
    empty_redis(tenant)
    _note(tenant, deleted_at=datetime.now(UTC).isoformat(timespec="seconds"))
    set_state(tenant, TenantState.DELETED)
    return dict(tenant.certificate or {})


def _delete_database(
    tenant: Tenant, alias: str, database: str, say: Callable[[str], object]
) -> None:
    if not has_database(alias, database):
        return
    known = dict((tenant.certificate or {}).get("databases", {}))
    size, rows = size_of_database(alias, database), count_rows(alias, database)
    known[alias] = {"name": database, "bytes": size, "rows": rows}
    _note(tenant, databases=known)
    failpoint("tenants.counted")
    drop_database(alias, database)
    failpoint("tenants.dropped")
    say(f"{alias}: dropped {database}, {sum(rows.values()):,} rows")


def _note_first(tenant: Tenant, fact: str, count: Callable[[], int]) -> None:
    """Counts what is there, unless an earlier call that was killed has done so."""
    if fact not in (tenant.certificate or {}):
        _note(tenant, **{fact: count()})


def _note(tenant: Tenant, **facts: Any) -> None:
    tenant.certificate = {**(tenant.certificate or {}), "tenant": tenant.name, **facts}
    Tenant.objects.filter(pk=tenant.pk).update(certificate=tenant.certificate)
