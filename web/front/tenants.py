"""Keeps the processes of each active tenant, and tells the routes where they are."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import structlog
from django.db import DatabaseError, close_old_connections

from infra.processes.free_ports import LOOPBACK, free_ports
from infra.sharding.errors import NO_ANSWER
from operations.tenants.models import Tenant
from operations.tenants.processes import environment_of
from operations.tenants.queries import list_tenants
from operations.tenants.types import TenantState
from web.front.kept_process import KeptProcess
from web.front.refusals import SUSPENDED, UNAVAILABLE, FrontRefusal
from web.front.routes import Backend, Routes, ServerAddress

READ_EVERY_S = 1.0
log = structlog.get_logger()


class TenantSite:
    """Web server, streaming process, worker and compensator of a tenant (site.py)."""

    def __init__(self, tenant: Tenant, workers: int) -> None:
        ports = free_ports(2)
        self.backend = Backend(*(ServerAddress(LOOPBACK, port) for port in ports))
        self.names = _names_of(tenant)
        command = ["-m", "web.front.site", *map(str, ports), str(workers)]
        self._child = KeptProcess(tenant.name, command, environment_of(tenant.name))

    async def stop(self) -> None:
        await self._child.stop()


class KeptTenants:
    """`workers`: web processes of each tenant."""

    def __init__(self, routes: Routes, workers: int) -> None:
        self._routes, self._workers = routes, workers
        self._running: dict[str, TenantSite] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        # One thread, and so one connection.
        self._reader = ThreadPoolExecutor(1)

    async def keep(self) -> None:
        """Until it is cancelled. While the list cannot be read, all stays as it is."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._apply(await loop.run_in_executor(self._reader, _read))
            except (*NO_ANSWER, DatabaseError) as error:
                log.warning("front.tenants_unread", error=str(error))
            await asyncio.sleep(READ_EVERY_S)

    async def stop(self) -> None:
        for name in [*self._running]:
            self._stop(name)
        await asyncio.gather(*self._stopping)

    def _apply(self, tenants: list[Tenant]) -> None:
        active = {each.name: each for each in tenants if each.state == TenantState.ACTIVE}
        ended = self._running.keys() - active.keys()
        renamed = {
            name
            for name in self._running.keys() & active.keys()
            if self._running[name].names != _names_of(active[name])
        }
        for name in ended | renamed:
            self._stop(name)
        for name in active.keys() - self._running.keys():
            self._running[name] = TenantSite(active[name], self._workers)
        routes = {host: route for each in tenants for host, route in self._routes_of(each).items()}
        self._routes.replace(routes)

    def _routes_of(self, tenant: Tenant) -> dict[str, Backend | FrontRefusal]:
        if tenant.state == TenantState.ACTIVE:
            return dict.fromkeys(tenant.hosts, self._running[tenant.name].backend)
        is_closed = tenant.state == TenantState.SUSPENDED
        return dict.fromkeys(tenant.hosts, SUSPENDED if is_closed else UNAVAILABLE)

    def _stop(self, name: str) -> None:
        task = asyncio.create_task(self._running.pop(name).stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


def _names_of(tenant: Tenant) -> tuple[str, ...]:
    return tenant.url, *tenant.hosts


def _read() -> list[Tenant]:
    close_old_connections()
    return list_tenants()
