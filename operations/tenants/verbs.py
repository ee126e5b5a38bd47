"""`manage.py tenants WHAT`."""

import json
import os
from argparse import REMAINDER, ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from infra.verbs import DocumentedCommand
from operations.tenants.actions.change_state import resume_tenant, suspend_tenant
from operations.tenants.actions.create_tenant import change_hosts, create_tenant, url_of
from operations.tenants.actions.delete_tenant import delete_tenant
from operations.tenants.actions.export_tenant import export_tenant
from operations.tenants.models import Tenant
from operations.tenants.processes import environment_of, manage_command, run_for
from operations.tenants.queries import find_tenant, list_tenants, refuse_inside_tenant
from operations.tenants.stores import databases_of, size_of_database
from operations.tenants.types import NewTenant, TenantRefused, TenantState

HEADER = f"{'tenant':<20} {'state':<10} {'size MB':>9}  hosts"


class TenantCommand(DocumentedCommand):
    """A command on tenants: what is refused is an error of the command."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            refuse_inside_tenant()
            self.act(options)
        except TenantRefused as error:
            raise CommandError(str(error)) from None

    def act(self, options: dict[str, Any]) -> None:
        """Raises: TenantRefused."""
        raise NotImplementedError

    def add_name(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="of the tenant")


def add_hosts(parser: ArgumentParser) -> None:
    more = "by which people reach it; may be repeated"
    parser.add_argument("--host", action="append", required=True, help=more)
    parser.add_argument("--url", help="the start of its links; default: as PUBLIC_URL")


def _hosts_and_url(options: dict[str, Any]) -> tuple[list[str], str]:
    hosts = [host.lower() for host in options["host"]]
    return hosts, (options["url"] or url_of(hosts[0])).rstrip("/")


class CreateTenant(TenantCommand):
    """Creates a tenant: a site of its own on this installation's servers.

    **When**: another product shall have its own accounts, posts, names and rules here
    ([how](../../how-to/serve-several-products.md)). It creates a database on each server, and their
    tables. The front then serves it within seconds. **Costs**: five seconds and 10 MB a database.
    **Stopping it**: run it again; it goes on.

    ```
    $ manage.py tenants create shop --host shop.example.org
    default: created the database tideline__shop
    …
    shop is served at https://shop.example.org
    ```
    """

    name = "tenants create"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)
        add_hosts(parser)

    def act(self, options: dict[str, Any]) -> None:
        new = NewTenant(options["name"], *_hosts_and_url(options))
        tenant = create_tenant(new, self.stdout.write)
        self.stdout.write(f"{tenant} is served at {tenant.url}")


class ChangeTenant(TenantCommand):
    """Gives a tenant other hosts; its processes begin again under them.

    **When**: its product moves to another name, or gets one more. Name all that it shall have: what
    is not named leads nowhere from then on. Its accounts, tokens and posts stay.
    """

    name = "tenants change"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)
        add_hosts(parser)

    def act(self, options: dict[str, Any]) -> None:
        tenant = change_hosts(options["name"], *_hosts_and_url(options))
        self.stdout.write(f"{tenant} is served at {tenant.url}")


class ShowTenants(TenantCommand):
    """Shows each tenant with its state, the size of its databases, and its hosts.

    **When**: to see who shares this installation. `--json` prints one object a line. **Costs**: a
    query a database of each tenant.

    ```
    $ manage.py tenants show
    tenant               state        size MB  hosts
    shop                 active          61.3  shop.example.org
    ```
    """

    name = "tenants show"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def act(self, options: dict[str, Any]) -> None:
        if not options["json"]:
            self.stdout.write(HEADER)
        for tenant in list_tenants():
            size = sum(size_of_database(*place) for place in databases_of(tenant.name).items())
            facts = {"name": tenant.name, "state": tenant.state, "bytes": size}
            facts |= {"hosts": tenant.hosts, "url": tenant.url}
            self.stdout.write(json.dumps(facts) if options["json"] else _line(tenant, size))


def _line(tenant: Tenant, size: int) -> str:
    hosts = ", ".join(tenant.hosts)
    return f"{tenant.name:<20} {tenant.state:<10} {size / 1e6:>9.1f}  {hosts}"


class SuspendTenant(TenantCommand):
    """Ends the service of a tenant: its hosts answer 403, its streams end, its jobs rest.

    **When**: a product is closed for a while, or before its export or deletion. Nothing is lost.
    """

    name = "tenants suspend"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)

    def act(self, options: dict[str, Any]) -> None:
        self.stdout.write(f"{suspend_tenant(options['name'])} is suspended")


class ResumeTenant(TenantCommand):
    """Serves a suspended tenant again.

    **When**: the reason is gone. Its changes that waited are delivered then.
    """

    name = "tenants resume"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)

    def act(self, options: dict[str, Any]) -> None:
        tenant = resume_tenant(options["name"])
        self.stdout.write(f"{tenant} is served at {tenant.url}")


class ExportTenant(TenantCommand):
    """Writes all that a suspended tenant has into a folder: dumps, images, and a list with sums.

    **When**: the product moves to an installation of its own, or before its deletion. **Costs**:
    reads all rows and images; it needs `pg_dump`. **Stopping it**: run it again with an empty
    folder; `tenant.json` is written last.
    """

    name = "tenants export"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)
        parser.add_argument("folder", type=Path, help="which it creates")

    def act(self, options: dict[str, Any]) -> None:
        described = export_tenant(options["name"], options["folder"], self.stdout.write)
        self.stdout.write(f"wrote {len(described['files']):,} files into {options['folder']}")


class DeleteTenant(TenantCommand):
    """Deletes all that a suspended tenant has, and prints a certificate of what that was.

    **When**: a product leaves for good. It drops the databases, and erases the images and the
    caches. The certificate stays in the list of tenants; the name is never used again. Copies in
    your backups are yours to delete. **Costs**: counts all rows. **Stopping it**: run it again; it
    goes on.
    """

    name = "tenants delete"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)
        parser.add_argument("--yes", action="store_true", help="it cannot be undone")

    def act(self, options: dict[str, Any]) -> None:
        tenant = find_tenant(options["name"])
        if not options["yes"]:
            raise TenantRefused(f"This deletes all of {tenant} for good: say --yes.")
        certificate = delete_tenant(tenant.name, self.stdout.write)
        self.stdout.write(json.dumps(certificate, indent=2))


class MigrateTenants(TenantCommand):
    """Brings the databases of every tenant to the schema of this code.

    **When**: with every new release, after `migrate_shards`. **Costs**: as `migrate_shards`, for
    each. **Stopping it**: run it again.
    """

    name = "tenants migrate"

    def act(self, options: dict[str, Any]) -> None:
        for tenant in list_tenants():
            if tenant.state in (TenantState.ACTIVE, TenantState.SUSPENDED):
                self.stdout.write(f"{tenant}:")
                self.stdout.flush()
                run_for(tenant.name, "migrate_shards")


class RunForTenant(TenantCommand):
    """Runs a command for a tenant: `tenants run shop show_status`.

    **When**: each command of this reference works on one site. This one names the tenant: it is the
    same as `TENANT=shop manage.py show_status`.
    """

    name = "tenants run"

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_name(parser)
        parser.add_argument("words", nargs=REMAINDER, metavar="...", help="the command")

    def act(self, options: dict[str, Any]) -> None:
        tenant = find_tenant(options["name"])
        if tenant.state == TenantState.DELETED:
            raise TenantRefused(f"The tenant {tenant} was deleted.")
        command = manage_command(options["words"] or ["help"])
        os.execve(command[0], command, environment_of(tenant.name))  # noqa: S606 - its own program
