"""Endpoint: who is let in, and that whatever happens is an answer in JSON."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
import pytest
from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from structlog.testing import capture_logs

from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidCursor, TooManyRequests
from infra.api.rendering import json_response
from infra.api.request import ApiRequest

ASK = RequestFactory()


@dataclass
class Caller:
    account_id: int | None = 1
    scopes: frozenset[str] = frozenset({"read:x", "write:x"})
    application_id: int = 1
    token_id: int = 1
    is_frozen: bool = False
    is_bulk: bool = False


class Header:
    """Stands for BearerToken: the caller is whoever the test put on the request."""

    def authenticate(self, request: HttpRequest) -> tuple[Caller, None] | None:
        caller = request.META.get("caller")
        return (caller, None) if caller else None


class Charging:
    """Stands for quotas: lets in whoever the test says."""

    def charge(self, request: HttpRequest, caller: Caller | None) -> "Spent":
        return Spent("spent" in request.META)


class Spent(NamedTuple):
    """Stands for what a request has taken of its quota."""

    is_too_much: bool

    def settle(self) -> None:
        if self.is_too_much:
            raise TooManyRequests(7)

    def headers(self) -> dict[str, str]:
        return {"X-RateLimit-Remaining": "3"}


class Answering(Endpoint):
    authentication_classes = [Header]

    @classmethod
    def meter_classes(cls) -> list[type[Charging]]:
        return [Charging]

    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(orjson.dumps({"who": request.user and request.user.account_id}))

    def post(self, request: ApiRequest) -> HttpResponse:
        return json_response(orjson.dumps({"sent": dict(request.data)}))


class Private(Answering):
    scopes = {"GET": "read:x", "POST": "write:x"}


class Public(Private):
    public = True


class ForApps(Private):
    needs_user = False


class Open(Answering):
    public = True
    authentication_classes = []


USER, APP, SCOPELESS = Caller(), Caller(account_id=None), Caller(scopes=frozenset())


@pytest.mark.parametrize(
    ("view", "method", "caller", "status"),
    [
        (Private, "GET", USER, 200),
        (Private, "HEAD", USER, 200),
        (Private, "GET", None, 401),
        (Private, "GET", APP, 422),
        (Private, "GET", SCOPELESS, 403),
        (Private, "HEAD", SCOPELESS, 403),
        (Private, "POST", SCOPELESS, 403),
        (Private, "PUT", USER, 405),
        (Private, "OPTIONS", USER, 405),
        (Public, "GET", None, 200),
        (Public, "GET", APP, 200),
        (Public, "GET", SCOPELESS, 403),
        (Public, "POST", None, 401),
        (Public, "POST", APP, 422),
        (ForApps, "GET", APP, 200),
        (ForApps, "POST", APP, 200),
        (ForApps, "POST", None, 401),
        (Open, "GET", None, 200),
        (Open, "POST", None, 200),
    ],
)
def test_who_is_let_in(
    view: type[Endpoint], method: str, caller: Caller | None, status: int
) -> None:
    answer = view.as_view()(ASK.generic(method, "/", caller=caller))
    assert answer.status_code == status
    assert answer["Content-Type"].startswith("application/json")


def test_forms_and_json_are_read_alike() -> None:
    for options in ({}, {"content_type": "application/json"}):
        answer = Open.as_view()(ASK.post("/", {"a": "b"}, **options))
        sent = orjson.loads(answer.content)["sent"]
        assert sent in ({"a": "b"}, {"a": ["b"]})


FORM = b'--%b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--%b--\r\n'


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"5", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"x", "text/plain", 415),
        (b"x", "multipart/form-data", 400),
        (b"--b\r\nbroken", "multipart/form-data; boundary=b", 400),
        (FORM % (b"a", b"a"), "multipart/form-data; boundary=b", 400),
        (FORM % (b"b", b"b"), "multipart/form-data; boundary=b", 200),
        (b"--b--\r\n", "multipart/form-data; boundary=b", 200),
        (b"", "multipart/form-data; boundary=b", 200),
        (b"&".join(b"a%d=1" % n for n in range(1_001)), "application/x-www-form-urlencoded", 400),
        (b" " * 3_000_000, "application/json", 413),
        (b"a=" + b"x" * 3_000_000, "application/x-www-form-urlencoded", 413),
    ],
)
def test_broken_bodies(body: bytes, kind: str, status: int) -> None:
    answer = Open.as_view()(ASK.generic("POST", "/", body, kind))
    assert answer.status_code == status
    assert orjson.loads(answer.content)


def raising(error: Exception) -> Any:
    class Raising(Open):
        def get(self, request: ApiRequest) -> HttpResponse:
            raise error

    return Raising.as_view()


@dataclass
class Listener:
    heard: list[Any] = field(default_factory=list)

    def __call__(self, **about: Any) -> None:
        self.heard.append(about["request"])


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    got_request_exception.connect(listener)
    yield listener
    got_request_exception.disconnect(listener)


def test_a_fault_of_ours_is_logged_told_and_answered_in_json(listener: Listener) -> None:
    with capture_logs() as logs:
        answer = raising(ZeroDivisionError("secret"))(ASK.get("/path"))
    assert answer.status_code == 500
    assert b"secret" not in answer.content
    assert orjson.loads(answer.content)["error"]
    (entry,) = logs
    assert (entry["event"], entry["path"], entry["exc_info"]) == ("request.failed", "/path", True)
    assert len(listener.heard) == 1


def test_answers_and_errors_say_what_is_left() -> None:
    assert Public.as_view()(ASK.get("/"))["X-RateLimit-Remaining"] == "3"
    assert raising(InvalidCursor())(ASK.get("/"))["X-RateLimit-Remaining"] == "3"


def test_who_has_nothing_left_is_told_to_wait() -> None:
    answer = Public.as_view()(ASK.get("/", spent=True))
    assert (answer.status_code, answer["Retry-After"]) == (429, "7")
