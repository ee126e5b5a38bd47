"""The short path: answers GETs of the API without Django's request cycle.

Both ways call the same endpoints. Django tries all routes in their order, and builds a request with
a stream for its body. The short path finds the route by one lookup, and builds neither. See
docs/explanation/decisions/0053-a-short-path-for-gets.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch, URLPattern
from django.utils.module_loading import import_string

from infra.api.endpoint import Endpoint
from infra.api.get_request import GetRequest
from infra.sharding.connection_health import drop_broken_connections, give_back_connections
from web.cross_origin import Handler, answer_cross_origin
from web.paths import without_slash

Environment = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environment, StartResponse], Iterable[bytes]]
# Every request passes the middlewares before this one. This one and those after it are for pages.
_FIRST_FOR_PAGES = "web.middleware.StatelessRoutes"
# A path is split into "", "api", "v1", "accounts", an id, and the rest.
_ID, _PARTS = 4, 5
# How many matched paths are kept. Each takes about 1 kB at most.
_MOST_PATHS, _LONGEST_PATH = 4_096, 100


class Route(NamedTuple):
    """A route with an endpoint that has GET. `match`: as Django gives it to the request."""

    pattern: URLPattern
    endpoint: Endpoint
    match: ResolverMatch


# A route, and the arguments of its view: what the path has in their places.
Found = tuple[Route, Mapping[str, Any]]


class ShortRequest(GetRequest):
    """Knows its endpoint."""

    def __init__(
        self, environment: Environment, route: Route, arguments: Mapping[str, Any]
    ) -> None:
        super().__init__(environment, without_slash(environment["PATH_INFO"]), route.match)
        self.route, self.arguments = route, arguments


class ShortPath:
    """A WSGI application that answers some GETs, and gives all other requests to Django's.

    `routes`: all routes of the site, in their order. It does itself what receivers of Django's
    signals request_started and request_finished do, because a signal costs 5 us.
    """

    def __init__(self, django: Application, routes: Sequence[Any]) -> None:
        self._django = django
        self._exact, self._by_shape = _find_routes(routes)
        self._match_short = lru_cache(_MOST_PATHS)(self._match)
        self._answer = _with_middlewares(_call_endpoint)

    def __call__(self, environment: Environment, start_response: StartResponse) -> Iterable[bytes]:
        route = self.find(environment)
        if route is None:
            return self._django(environment, start_response)
        drop_broken_connections()
        try:
            response: Any = self._answer(ShortRequest(environment, *route))
            status = f"{response.status_code} {response.reason_phrase}"
            start_response(status, list(response.items()))
            return [response.content]
        finally:
            give_back_connections()

    def is_quick(self, path: str) -> bool:
        """Whether a GET of this path may be served in a shared thread."""
        route = self._find(path)
        return route is not None and route[0].endpoint.is_quick

    def find(self, environment: Environment) -> Found | None:
        """The route of a plain GET, with its arguments. None: Django must answer this request."""
        if (
            environment["REQUEST_METHOD"] != "GET"
            or environment.get("SCRIPT_NAME")
            or _may_have_body(environment)
        ):
            return None
        return self._find(environment["PATH_INFO"])

    def _find(self, path: str) -> Found | None:
        path = without_slash(path)
        if route := self._exact.get(path):
            return route, {}
        return self._match_short(path) if len(path) <= _LONGEST_PATH else self._match(path)

    def _match(self, path: str) -> Found | None:
        """The route with an id in this path."""
        route = self._by_shape.get(_shape(path))
        matched = route.pattern.pattern.match(path[1:]) if route else None
        return (route, matched[2]) if route and matched else None


def _may_have_body(environment: Environment) -> bool:
    """True for any Content-Type: without a body, it may still say how the query is encoded."""
    has_type = bool(environment.get("CONTENT_TYPE"))
    return has_type or environment.get("CONTENT_LENGTH", "0") not in ("", "0")


def _shape(path: str) -> str:
    """The path with a star in place of the id; empty if no endpoint can have this path."""
    parts = path.split("/", _PARTS)
    if len(parts) <= _ID or not path.isascii():
        return ""
    parts[_ID] = "*"
    return "/".join(parts)


def _find_routes(patterns: Iterable[Any]) -> tuple[dict[str, Route], dict[str, Route]]:
    """Routes without arguments by path, and routes with an id by shape.

    Of equal ones the first one wins, as in Django.
    """
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
    """All routes, with those of included modules that have no prefix."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        elif not str(pattern.pattern):
            yield from _flatten(pattern.url_patterns)


def _route(pattern: URLPattern, view: type[Endpoint]) -> Route:
    match = ResolverMatch(pattern.callback, (), {}, route=str(pattern.pattern))
    # Arguments of `as_view`. Django passes them to a new view for each request.
    options = getattr(pattern.callback, "view_initkwargs", {})
    return Route(pattern, view(**options), match)


def _with_middlewares(handler: Handler) -> Handler:
    """The handler inside the middlewares that every request passes."""
    for path in reversed(settings.MIDDLEWARE[: settings.MIDDLEWARE.index(_FIRST_FOR_PAGES)]):
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
