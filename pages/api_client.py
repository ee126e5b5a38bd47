"""The API, asked in the same process by a web page.

Pages use the endpoints of all clients, so they have the same rules, limits and errors.
See docs/explanation/decisions/0066-pages-are-a-client-of-the-api.md.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import orjson
from django.core.handlers.wsgi import WSGIRequest, get_path_info
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve

from accounts.api.quotas import COUNTED
from infra.api.endpoint import Endpoint
from infra.api.get_request import GetRequest
from infra.missing_databases import INCOMPLETE
from pages.frame import Frame, with_frame
from pages.refusals import refusal_text
from relations.api.schema import UNDO

# What endpoints read of the browser's own request: who asks, from where.
PASSED = (
    "REMOTE_ADDR", "HTTP_X_FORWARDED_FOR", "SERVER_NAME", "SERVER_PORT", "wsgi.url_scheme", COUNTED,
)  # fmt: skip
# How many routes are kept. Each takes about 1 kB at most.
_MOST_PATHS, _LONGEST_PATH = 1_024, 100
LINK = re.compile(r'<[^>?]*\?([^>]*)>; rel="(next|prev)"')
Parameters = Mapping[str, object]


class ApiRefused(Exception):
    """The API answered with an error. `message`: its text, in the language of the page."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str]) -> None:
        super().__init__(status, message)
        self.status, self.message, self.headers = status, refusal_text(message), headers


class ApiAnswer(NamedTuple):
    """`body`: the decoded JSON. `older`, `newer`: queries of the pages before and after, or ''.

    `is_incomplete`: a database did not answer, so there may be more. `undo`: takes a write back.
    """

    body: Any
    older: str = ""
    newer: str = ""
    is_incomplete: bool = False
    undo: str = ""


class ApiClient:
    """`token`: the access token of the viewer; empty for a guest. `frame`: is asked along with the
    first question; None if the page has none."""

    def __init__(self, request: HttpRequest, token: str, frame: Frame | None = None) -> None:
        self._request = request
        self.token = token
        self._frame = frame if token else None

    def get(self, path: str, query: Parameters | None = None, alone: bool = False) -> ApiAnswer:
        """`alone`: the frame is not asked, as the page may not need it.

        Raises: ApiRefused; Http404 if there is no such route.
        """
        text = urlencode(query, doseq=True) if query else ""
        is_short = len(path) <= _LONGEST_PATH
        match, endpoint = _find_kept(path) if is_short else _find_endpoint(path)
        if self._is_frame_known or alone:
            request = self._get_request(path, text, match)
            return _read(endpoint.dispatch(request, **match.kwargs))
        return self.get_by(endpoint, path, text, match, **match.kwargs)

    def get_by(
        self,
        endpoint: Endpoint | None,
        path: str = "/",
        query: str = "",
        match: ResolverMatch | None = None,
        **arguments: Any,
    ) -> ApiAnswer:
        """By an endpoint that needs no route, with the frame. Raises: ApiRefused."""
        request = self._get_request(path, query, match)
        return _read(with_frame.dispatch(request, self._frame, endpoint, **arguments))

    def know_frame(self) -> None:
        """Asks for the frame if no question did. Raises: ApiRefused."""
        if not self._is_frame_known:
            self.ask_frame()

    def ask_frame(self) -> None:
        """Raises: ApiRefused."""
        self.get_by(None)

    @property
    def _is_frame_known(self) -> bool:
        return self._frame is None or self._frame.viewer is not None

    def _get_request(self, path: str, query: str, match: ResolverMatch | None) -> GetRequest:
        variables = self._variables()
        variables |= {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query}
        return GetRequest(variables, path, match)

    def send(
        self, method: str, path: str, data: Parameters | None = None, key: str = ""
    ) -> ApiAnswer:
        """A write. `key`: repeats with the same key write once. Raises: as `get`."""
        more = {"CONTENT_TYPE": "application/json"}
        if key:
            more["HTTP_IDEMPOTENCY_KEY"] = key
        return self._ask(method, path, more, orjson.dumps(data or {}))

    def upload(self, path: str, name: str, content: bytes, method: str = "POST") -> ApiAnswer:
        """Sends a form with one file. Raises: as `get`."""
        boundary = uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="image"\r\n'
            f"Content-Type: application/octet-stream\r\n\r\n"
        )
        body = b"%b%b\r\n--%b--\r\n" % (head.encode(), content, boundary.encode())
        more = {"CONTENT_TYPE": f"multipart/form-data; boundary={boundary}"}
        return self._ask(method, path, more, body)

    def _ask(self, method: str, path: str, more: Mapping[str, str], body: bytes) -> ApiAnswer:
        variables = self._variables() | {"REQUEST_METHOD": method, "PATH_INFO": _encode(path)}
        variables |= {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body), **more}
        request = WSGIRequest(variables)
        request.resolver_match = match = _find_route(request.path)
        answer: HttpResponse = match.func(request, *match.args, **match.kwargs)
        return _read(answer)

    def _variables(self) -> dict[str, Any]:
        variables = {name: value for name in PASSED if (value := self._request.META.get(name))}
        if self.token:
            variables["HTTP_AUTHORIZATION"] = f"Bearer {self.token}"
        return variables


def _encode(path: str) -> str:
    """WSGI has the bytes of the path as characters."""
    return path.encode("utf-8", "surrogatepass").decode("latin-1")


def _find_route(path: str) -> ResolverMatch:
    """Raises: Http404."""
    try:
        return resolve(path)
    except Resolver404 as error:  # an id that is no id
        raise Http404 from error


def _find_endpoint(path: str) -> tuple[ResolverMatch, Endpoint]:
    """Raises: Http404."""
    match = _find_route(get_path_info({"PATH_INFO": _encode(path)}))
    view: Any = match.func
    return match, view.view_class(**view.view_initkwargs)


# Django tries all routes in their order.
_find_kept = lru_cache(_MOST_PATHS)(_find_endpoint)


def _read(answer: HttpResponse) -> ApiAnswer:
    body = orjson.loads(answer.content) if answer.content else None
    if answer.status_code >= 400:
        text = body.get("error", "") if isinstance(body, dict) else ""
        raise ApiRefused(answer.status_code, text, dict(answer.items()))
    queries = {name: query for query, name in LINK.findall(answer.headers.get("Link", ""))}
    links = _without_limit(queries.get("next")), _without_limit(queries.get("prev"))
    return ApiAnswer(body, *links, INCOMPLETE in answer.headers, answer.headers.get(UNDO, ""))


def _without_limit(query: str | None) -> str:
    pairs = parse_qsl(query) if query else ()
    return urlencode([pair for pair in pairs if pair[0] != "limit"])
