"""Answers to requests that the application never sees. A refused request has done nothing."""

from typing import NamedTuple

import orjson
from prometheus_client import Counter

from accounts.errors import PasswordsBusy
from infra.api.errors import TokenInvalid
from web.serving.pending_request import PendingRequest

REFUSED = Counter(
    "tideline_refused_total",
    (
        "Requests that the web server refused before any work: `queue_full`, "
        "`waited_too_long`, `too_many_bodies`, `passwords_busy` (503), `too_many_of_address` "
        "(429), `body_too_slow` (408), `body_malformed` (400, a chunked body without its "
        "end), `body_too_large` (413), `head_too_large` (431), `token_missing` (401, an "
        "upload), `broken` (500), `draining` (502, only to a proxy that repeats it elsewhere)"
    ),
    ["why"],
)


class Refusal(NamedTuple):
    """`why`: the label of the metric."""

    why: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def answer(self, request: PendingRequest) -> None:
        REFUSED.labels(self.why).inc()
        request.protocol.response_bytes(self.status, self.headers, self.body)


def _refusal(why: str, status: int, text: str, *more: tuple[str, str]) -> Refusal:
    body = orjson.dumps({"error": text})
    headers = [
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        # As web.cross_origin: a script of another site may read why.
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Expose-Headers", "Retry-After"),
        *more,
    ]
    return Refusal(why, status, headers, body)


_SOON = ("Retry-After", "1")
# Of a body, the rest would be taken for the next request.
_CLOSE = ("Connection", "close")
_OVERLOADED = "Too many requests at the moment, try again"

QUEUE_FULL = _refusal("queue_full", 503, _OVERLOADED, _SOON)
WAITED_TOO_LONG = _refusal("waited_too_long", 503, _OVERLOADED, _SOON)
PASSWORDS_BUSY = _refusal(
    "passwords_busy", PasswordsBusy.status, PasswordsBusy.text, *PasswordsBusy.headers.items()
)
TOO_MANY_BODIES = _refusal("too_many_bodies", 503, _OVERLOADED, _SOON, _CLOSE)
TOO_MANY_OF_ADDRESS = _refusal(
    "too_many_of_address", 429, "Too many unfinished requests of this address", _SOON, _CLOSE
)
BODY_TOO_SLOW = _refusal("body_too_slow", 408, "The request did not arrive in time", _CLOSE)
BODY_MALFORMED = _refusal("body_malformed", 400, "The request is malformed", _CLOSE)
BODY_TOO_LARGE = _refusal("body_too_large", 413, "The request is too large", _CLOSE)
HEAD_TOO_LARGE = _refusal("head_too_large", 431, "The head of the request is too large", _CLOSE)
TOKEN_MISSING = _refusal(
    "token_missing", TokenInvalid.status, TokenInvalid.text, *TokenInvalid.headers.items(), _CLOSE
)
DRAINING = _refusal("draining", 502, "This server is about to end", _CLOSE)
BROKEN = _refusal("broken", 500, "Something went wrong on our side")
