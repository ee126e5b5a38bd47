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
from django.core.handlers.wsgi import WSGIRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve

from accounts.api.quotas import COUNTED
from infra.missing_databases import INCOMPLETE
from pages.refusals import refusal_text

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

    `is_incomplete`: a database did not answer, so there may be more.
    """

    body: Any
    older: str = ""
    newer: str = ""
    is_incomplete: bool = False


class ApiClient:
    """`token`: the access token of the viewer; empty for a guest."""

    def __init__(self, request: HttpRequest, token: str) -> None:
        self._request = request
        self.token = token

    def get(self, path: str, query: Parameters | None = None) -> ApiAnswer:
        """Raises: ApiRefused; Http404 if there is no such route."""
        return self._ask("GET", path, {"QUERY_STRING": urlencode(query or {}, doseq=True)}, b"")

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
        variables = {name: value for name in PASSED if (value := self._request.META.get(name))}
        # WSGI has the bytes of the path as characters.
        wsgi_path = path.encode("utf-8", "surrogatepass").decode("latin-1")
        variables |= {"REQUEST_METHOD": method, "PATH_INFO": wsgi_path, **more}
        variables |= {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body)}
        if self.token:
            variables["HTTP_AUTHORIZATION"] = f"Bearer {self.token}"
        return _read(_call_endpoint(WSGIRequest(variables)))


def _call_endpoint(request: HttpRequest) -> HttpResponse:
    is_short = len(request.path) <= _LONGEST_PATH
    match = _find_kept(request.path) if is_short else _find_route(request.path)
    request.resolver_match = match
    answer: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return answer


def _find_route(path: str) -> ResolverMatch:
    """Raises: Http404."""
    try:
        return resolve(path)
    except Resolver404 as error:  # an id that is no id
        raise Http404 from error


# Django tries all routes in their order.
_find_kept = lru_cache(_MOST_PATHS)(_find_route)


def _read(answer: HttpResponse) -> ApiAnswer:
    body = orjson.loads(answer.content) if answer.content else None
    if answer.status_code >= 400:
        text = body.get("error", "") if isinstance(body, dict) else ""
        raise ApiRefused(answer.status_code, text, dict(answer.items()))
    queries = {name: query for query, name in LINK.findall(answer.headers.get("Link", ""))}
    links = _without_limit(queries.get("next")), _without_limit(queries.get("prev"))
    return ApiAnswer(body, *links, is_incomplete=INCOMPLETE in answer.headers)


def _without_limit(query: str | None) -> str:
    pairs = parse_qsl(query) if query else ()
    return urlencode([pair for pair in pairs if pair[0] != "limit"])
