"""The short path: GETs of the API are answered without Django's request cycle.

Django's handler and this one are two adapters of the same endpoints. What this one skips is what
Django does for pages: it finds the route by trying them in order, and builds a request with a
stream for its body. See docs/explanation/decisions/0053-a-short-path-for-gets.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import LimitedStream, WSGIRequest
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import ResolverMatch, URLPattern
from django.utils.functional import cached_property
from django.utils.module_loading import import_string

from config.cross_origin import Handler, answer_cross_origin
from infra.api.endpoint import Endpoint
from infra.sharding.connection_health import drop_broken_connections, give_back_connections

Variables = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Variables, StartResponse], Iterable[bytes]]
# Middlewares that every request passes. The ones after it are for pages.
_LAST_MIDDLEWARE = "config.middleware.StatelessRoutes"
# "", "api", "v1", "accounts", an id, the rest.
_ID, _PARTS = 4, 5
# Parsed queries and paths that are kept: at most about 1 kB each.
_MOST_QUERIES, _LONGEST_QUERY = 1_024, 64
_MOST_PATHS, _LONGEST_PATH = 4_096, 100


class Route(NamedTuple):
    """A route whose GET is answered by an endpoint. `match`: what Django would find for it."""

    pattern: URLPattern
    endpoint: Endpoint
    match: ResolverMatch


# With the arguments of its view.
Found = tuple[Route, Mapping[str, Any]]


class ShortRequest(WSGIRequest):
    """A GET without a body. It has what endpoints and middlewares of the API use of a request."""

    content_type: str | None = ""
    content_params: dict[str, str] | None = {}
    _read_started = False

    def __init__(self, variables: Variables, route: Route, arguments: Mapping[str, Any]) -> None:
        self.environ = self.META = variables
        self.path = self.path_info = variables["PATH_INFO"]
        self.method = "GET"
        self.resolver_match = route.match
        self.route, self.arguments = route, arguments

    def _read_query(self) -> QueryDict:
        """Many requests have the same query, and parsing it costs more than the way to it."""
        query = self.META.get("QUERY_STRING", "")
        return _parse_short(query) if len(query) <= _LONGEST_QUERY else _parse(query)

    GET = cached_property(_read_query)  # type: ignore[assignment]

    @cached_property
    def _stream(self) -> LimitedStream:  # type: ignore[override]
        return LimitedStream(self.environ["wsgi.input"], 0)


def _parse(query: str) -> QueryDict:
    """As Django's GET, which gets its characters from WSGI. The result cannot be changed."""
    return QueryDict(query.encode("latin-1"))


_parse_short = lru_cache(_MOST_QUERIES)(_parse)


class ShortPath:
    """A WSGI application in front of Django's. `routes`: all routes of the site, in their order.

    It calls the receivers of request_started and request_finished itself: a signal costs 5 us.
    """

    def __init__(self, django: Application, routes: Sequence[Any]) -> None:
        self._django = django
        self._exact, self._by_shape = _find_routes(routes)
        self._match_short = lru_cache(_MOST_PATHS)(self._match)
        self._answer = _with_middlewares(_call_endpoint)

    def __call__(self, variables: Variables, start_response: StartResponse) -> Iterable[bytes]:
        found = self.find(variables)
        if found is None:
            return self._django(variables, start_response)
        drop_broken_connections()
        try:
            response: Any = self._answer(ShortRequest(variables, *found))
            status = f"{response.status_code} {response.reason_phrase}"
            start_response(status, list(response.items()))
            return [response.content]
        finally:
            give_back_connections()

    def is_quick(self, path: str) -> bool:
        """Whether a GET of this path may be served in a shared thread."""
        found = self._find(path)
        return found is not None and found[0].endpoint.is_quick

    def find(self, variables: Variables) -> Found | None:
        """The route of a plain GET, with its arguments. None: this request is Django's."""
        path = variables["PATH_INFO"]
        if (
            variables["REQUEST_METHOD"] != "GET"
            or variables.get("SCRIPT_NAME")
            or _has_body(variables)
        ):
            return None
        return self._find(path)

    def _find(self, path: str) -> Found | None:
        if route := self._exact.get(path):
            return route, {}
        return self._match_short(path) if len(path) <= _LONGEST_PATH else self._match(path)

    def _match(self, path: str) -> Found | None:
        """The route with an id that has this path."""
        route = self._by_shape.get(_shape(path))
        matched = route.pattern.pattern.match(path[1:]) if route else None
        return (route, matched[2]) if route and matched else None


def _has_body(variables: Variables) -> bool:
    """Also without one a Content-Type could say how the query is encoded."""
    return bool(variables.get("CONTENT_TYPE")) or variables.get("CONTENT_LENGTH", "0") not in (
        "",
        "0",
    )


def _shape(path: str) -> str:
    """The path with a star in place of the id; empty: no endpoint has such a path."""
    parts = path.split("/", _PARTS)
    if len(parts) <= _ID or not path.isascii():
        return ""
    parts[_ID] = "*"
    return "/".join(parts)


def _find_routes(patterns: Iterable[Any]) -> tuple[dict[str, Route], dict[str, Route]]:
    """Routes without arguments by path, and those with an id by shape. The first one wins."""
    exact: dict[str, Route] = {}
    by_shape: dict[str, Route] = {}
    for pattern in _flatten(patterns):
        path = f"/{pattern.pattern}"
        view = getattr(pattern.callback, "view_class", None)
        if not (isinstance(view, type) and issubclass(view, Endpoint) and hasattr(view, "get")):
            continue
        if "<" not in path:
            exact.setdefault(path, _route(pattern, view))
        elif path.count("<") == 1 and path.split("/")[_ID].startswith("<"):
            by_shape.setdefault(_shape(path), _route(pattern, view))
    return exact, by_shape


def _flatten(patterns: Iterable[Any]) -> Iterator[URLPattern]:
    """Also those of included modules, if they have no prefix."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        elif not str(pattern.pattern):
            yield from _flatten(pattern.url_patterns)


def _route(pattern: URLPattern, view: type[Endpoint]) -> Route:
    match = ResolverMatch(pattern.callback, (), {}, route=str(pattern.pattern))
    # What the route gave to `as_view`, as Django does for each request.
    options = getattr(pattern.callback, "view_initkwargs", {})
    return Route(pattern, view(**options), match)


def _with_middlewares(handler: Handler) -> Handler:
    """The handler inside the middlewares that come before those of pages."""
    for path in reversed(settings.MIDDLEWARE[: settings.MIDDLEWARE.index(_LAST_MIDDLEWARE)]):
        handler = import_string(path)(handler)
    return cast(Handler, convert_exception_to_response(handler))


def _call_endpoint(request: HttpRequest) -> HttpResponseBase:
    if "HTTP_ORIGIN" in request.META:
        return answer_cross_origin(request, _dispatch)
    return _dispatch(request)


def _dispatch(request: Any) -> HttpResponseBase:
    """`request`: a ShortRequest."""
    answer: HttpResponseBase = request.route.endpoint.dispatch(request, **request.arguments)
    return answer
