"""Which processes a request is for, by the name of its host."""

from collections.abc import Iterable
from typing import NamedTuple

from django.http.request import validate_host

from web.front.refusals import UNKNOWN_HOST, FrontRefusal


class ServerAddress(NamedTuple):
    host: str
    port: int


class Backend(NamedTuple):
    """The web server and the streaming process of a site."""

    web: ServerAddress
    streaming: ServerAddress


class Routes:
    """`own`: the processes of the installation itself, and `own_hosts` its ALLOWED_HOSTS.

    Without tenants each request is for the installation, which says itself which hosts it has.
    """

    def __init__(self, own: Backend, own_hosts: Iterable[str]) -> None:
        self._own, self._own_hosts = own, list(own_hosts)
        self._tenants: dict[str, Backend | FrontRefusal] = {}

    def find(self, host: str) -> Backend | FrontRefusal:
        if not self._tenants:
            return self._own
        if (route := self._tenants.get(host)) is not None:
            return route
        return self._own if validate_host(host, self._own_hosts) else UNKNOWN_HOST

    def replace(self, tenants: dict[str, Backend | FrontRefusal]) -> None:
        """By host. Connections that are open stay where they are."""
        self._tenants = tenants
