"""Every route of the site, and what its endpoint or page is."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from infra.api.endpoint import Endpoint
from lab.client.naming import Named

PLACEHOLDER = re.compile(r"<\w+:(\w+)>")
FORMS = ("GET", "POST")


class SiteRoute(NamedTuple):
    """`view`: the class of an endpoint or a page; None: a function."""

    path: str
    view: Any

    @property
    def template(self) -> str:
        """As the OpenAPI document writes it."""
        return "/" + PLACEHOLDER.sub(r"{\1}", self.path)


class EndpointMethod(NamedTuple):
    """One method of an endpoint. `scope`: "-": none."""

    path: str
    method: str
    scope: str


def iter_routes() -> Iterator[SiteRoute]:
    yield from _iter_routes(get_resolver().url_patterns, "")


def _iter_routes(patterns: Sequence[Any], prefix: str) -> Iterator[SiteRoute]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _iter_routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            call: Any = pattern.callback
            yield SiteRoute(path, getattr(call, "cls", None) or getattr(call, "view_class", None))


def iter_endpoints() -> Iterator[tuple[SiteRoute, type[Endpoint]]]:
    for route in iter_routes():
        if isinstance(route.view, type) and issubclass(route.view, Endpoint):
            yield route, route.view


def iter_operations() -> Iterator[EndpointMethod]:
    """Without HEAD, which is as GET."""
    for route, view in iter_endpoints():
        for method, access in view._accesses.items():
            if method != "HEAD":
                yield EndpointMethod(route.path, method, access.scope or "-")


def iter_other_paths() -> Iterator[str]:
    """Of pages, of the admin, and of what no class of ours answers."""
    for route in iter_routes():
        if not getattr(route.view, "_accesses", {}):
            yield route.path


def list_endpoints(named: Iterable[Named]) -> list[str]:
    """A line for each operation: its scope, what the client calls it, and whether it is quick."""
    calls = defaultdict[tuple[str, str], list[str]](list)
    for each in named:
        calls[each.verb, each.path].append(f"{each.group}.{each.method}")
    quick = {route.path for route, view in iter_endpoints() if view.is_quick}
    return sorted(
        f"{path} {method} {scope} {' '.join(calls[method, SiteRoute(path, None).template])}".strip()
        + (" quick" if method == "GET" and path in quick else "")
        for path, method, scope in iter_operations()
    )


def iter_pages() -> Iterator[SiteRoute]:
    """What people open, and the forms that they send."""
    for route in iter_routes():
        if getattr(route.view, "__module__", "").startswith("pages."):
            yield route


def list_pages() -> list[str]:
    """A line for each, with its methods."""
    return sorted(
        f"/{route.path} {' '.join(name for name in FORMS if hasattr(route.view, name.lower()))}"
        for route in iter_pages()
    )
