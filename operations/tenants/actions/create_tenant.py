"""Creates a tenant: its row, its databases, their tables."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models.functions import Now
from django.http.request import validate_host

from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from operations.tenants.actions.change_state import refuse_unless_served, set_state
from operations.tenants.models import Tenant
from operations.tenants.processes import run_for
from operations.tenants.queries import find_tenant, list_tenants, refuse_inside_tenant
from operations.tenants.stores import (
    MOST_NAME_BYTES,
    create_database,
    databases_of,
    has_database,
    refuse_used_redis,
)
from operations.tenants.types import NewTenant, TenantRefused, TenantState

_NAME = re.compile(r"[a-z][a-z0-9]{1,19}")
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}$)({_LABEL}\.)*{_LABEL}")


def create_tenant(new: NewTenant, say: Callable[[str], object]) -> Tenant:
    """Safety: killed at any place, the same call goes on. Raises: TenantRefused.

    Cost: a database on each server, and its first schema: about a second for each.
    """
    refuse_inside_tenant()
    tenant = _find_or_insert(new)
    if tenant.state != TenantState.CREATING:
        raise TenantRefused(f"There is a tenant {new.name} already: it is {tenant.state}.")
    names = databases_of(tenant.name)
    if not has_database(GLOBAL_ALIAS, names[GLOBAL_ALIAS]):
        refuse_used_redis(tenant)
    for alias, name in names.items():
        if create_database(alias, name):
            say(f"{alias}: created the database {name}")
        failpoint("tenants.database_created")
    run_for(tenant.name, "migrate_shards")
    run_for(tenant.name, "backfill", "recent-posts")
    failpoint("tenants.migrated")
    return set_state(tenant, TenantState.ACTIVE)


def change_hosts(name: str, hosts: list[str], url: str) -> Tenant:
    """Its processes begin again under these names. One of the old names leads nowhere at once.

    Raises: TenantRefused.
    """
    tenant = find_tenant(name)
    refuse_unless_served(tenant)
    _refuse_hosts(NewTenant(name, hosts, url))
    Tenant.objects.filter(pk=tenant.pk).update(hosts=hosts, url=url, changed_at=Now())
    tenant.refresh_from_db()
    return tenant


def url_of(host: str) -> str:
    """As the installation's own, with this name."""
    own = urlsplit(settings.PUBLIC_URL)
    return f"{own.scheme}://{host}{f':{own.port}' if own.port else ''}"


def _find_or_insert(new: NewTenant) -> Tenant:
    known = Tenant.objects.filter(name=new.name).first()
    if known is not None:
        return known
    _refuse_wrong(new)
    return Tenant.objects.create(name=new.name, hosts=new.hosts, url=new.url)


def _refuse_wrong(new: NewTenant) -> None:
    """Raises: TenantRefused."""
    if not _NAME.fullmatch(new.name):
        raise TenantRefused(
            "A name has 2 to 20 small letters and digits, and begins with a letter."
        )
    for alias, name in databases_of(new.name).items():
        if len(name.encode()) > MOST_NAME_BYTES:
            raise TenantRefused(f"{alias}: the name {name} is too long for PostgreSQL.")
    _refuse_hosts(new)


def _refuse_hosts(new: NewTenant) -> None:
    """Raises: TenantRefused. A name leads to one site only."""
    if "*" in settings.ALLOWED_HOSTS:
        raise TenantRefused(
            "ALLOWED_HOSTS is *: this site answers to each name. Name its hosts first."
        )
    others = [tenant for tenant in list_tenants() if tenant.name != new.name]
    taken = {host: tenant.name for tenant in others for host in tenant.hosts}
    for host in new.hosts:
        if not _HOST.fullmatch(host):
            raise TenantRefused(f"{host} is no name of a host, such as shop.example.org.")
        if host in taken:
            raise TenantRefused(f"{host} belongs to the tenant {taken[host]}.")
        if validate_host(host, settings.ALLOWED_HOSTS):
            raise TenantRefused(f"{host} belongs to this site, by ALLOWED_HOSTS.")
    if urlsplit(new.url).hostname not in new.hosts or not new.url.startswith(
        ("http://", "https://")
    ):
        raise TenantRefused(f"{new.url} does not begin with http or https and one of its hosts.")
