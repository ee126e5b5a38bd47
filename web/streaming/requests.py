"""What a client asks for: path, parameters, token, and the position that it comes back with."""

from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings

from infra.api.addresses import choose_network
from pages import cookie

_MOST_PARAMETERS = 20
_BEARER = "bearer "


class StreamRequest(NamedTuple):
    """`protocols`: that a WebSocket client offers; Mastodon's clients offer their token.

    `headers`: by lower-case name. `network`: the address or network of the client, as quotas count
    it.
    """

    path: str
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    protocols: tuple[str, ...] = ()
    network: str = ""

    @property
    def token(self) -> str:
        """From the header, the parameter, the protocol, or the session of a browser."""
        authorization = self.headers.get("authorization", "")
        if authorization.lower().startswith(_BEARER):
            return authorization[len(_BEARER) :].strip()
        given = self.parameters.get("access_token") or ", ".join(self.protocols[:1])
        return given or self._session_token()

    @property
    def last_id(self) -> str:
        """Where the client was; empty for a new one."""
        return self.headers.get("last-event-id") or self.parameters.get("last_event_id", "")

    @property
    def is_event_source(self) -> bool:
        """Whether the client says that it reads server-sent events by their specification. To some
        clients of Mastodon each block is an event, so they get no block that is none."""
        return "text/event-stream" in self.headers.get("accept", "")

    @property
    def is_of_own_page(self) -> bool:
        """Whether a page of this site asks. It may be at another port, as with `make run`."""
        is_near = self.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "same-site")
        return is_near and self.headers.get("origin", own_origin()) == own_origin()

    def _session_token(self) -> str:
        if not self.is_of_own_page:
            return ""
        try:
            jar = SimpleCookie(self.headers.get("cookie", ""))
        except CookieError:
            return ""
        return jar[cookie.NAME].value if cookie.NAME in jar else ""


def read_request(scope: Mapping[str, Any]) -> StreamRequest:
    """Of an ASGI scope."""
    query = scope["query_string"].decode("latin-1")
    try:
        parameters = dict(parse_qsl(query, max_num_fields=_MOST_PARAMETERS))
    except ValueError:
        parameters = {}
    headers = _decode(scope["headers"])
    protocols = tuple(scope.get("subprotocols") or ())
    peer = scope.get("client") or ("", 0)
    network = choose_network(headers.get("x-forwarded-for"), peer[0])
    return StreamRequest(scope["path"], parameters, headers, protocols, network)


def _decode(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def own_origin() -> str:
    """Of the web pages."""
    parts = urlsplit(settings.PUBLIC_URL)
    return f"{parts.scheme}://{parts.netloc}"
