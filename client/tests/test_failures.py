"""What is tried again, how often, and which error comes in the end."""

import socket
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from site_double import ACCOUNT, BOUND, RELATIONSHIP, STATUS, SiteDouble, ok, refused
from tideline_client import (
    DeadlineExceeded,
    InvalidRequest,
    NotAllowed,
    NotFound,
    PositionGone,
    QuotaUsedUp,
    Refused,
    Tideline,
    TokenRefused,
    Unavailable,
    Unreachable,
)
from tideline_client.tries import LONGEST_PAUSE_S, Patience, Tries

# On a crowded machine. Without its deadline the client would wait for ever.
LONGEST_S = 60.0
BROKEN = httpx.ConnectError("connection refused")


@pytest.mark.parametrize("failure", [*map(refused, (429, 502, 503, 504)), BROKEN])
def test_a_read_is_tried_again(failure, pauses):
    site = SiteDouble(failure, failure, ok(ACCOUNT))
    assert site.client().accounts.get("42").id == "42"
    assert len(site.asked) == 3
    assert len(pauses) == 2
    assert len({request.headers["X-Request-Id"] for request in site.asked}) == 1


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (refused(429), QuotaUsedUp),
        (refused(502), Unavailable),
        (refused(503), Unavailable),
        (refused(504), DeadlineExceeded),
        (BROKEN, Unreachable),
    ],
)
def test_it_ends_after_the_last_retry(failure, kind, pauses):
    site = SiteDouble(failure)
    with pytest.raises(kind):
        site.client(retries=2).accounts.get("42")
    assert len(site.asked) == 3


def test_a_new_post_is_tried_again_with_one_key(pauses):
    site = SiteDouble(BROKEN, ok(STATUS))
    site.client().statuses.create("Hello")
    keys = [request.headers["Idempotency-Key"] for request in site.asked]
    assert len(keys) == 2
    assert keys[0] == keys[1]
    other = SiteDouble(ok(STATUS))
    other.client().statuses.create("Hello", idempotency_key="order-77")
    other.client().statuses.create("Hello")
    sent = [request.headers["Idempotency-Key"] for request in other.asked]
    assert sent[0] == "order-77"
    assert sent[1] not in keys


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda client: client.provisioning.put("1", note="x"), BOUND | {"created": False}),
        (lambda client: client.accounts.follow("9"), RELATIONSHIP),
        (lambda client: client.relations.of_pairs([]), []),
    ],
)
def test_what_has_the_same_effect_twice_is_tried_again(call, answer, pauses):
    site = SiteDouble(refused(503), ok(answer))
    call(site.client())
    assert len(site.asked) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.polls.vote("1", choices=[0]),
        lambda client: client.statuses.delete("1"),
        lambda client: client.reports.create("9"),
        lambda client: client.lists.create("Friends"),
    ],
)
def test_other_writes_are_sent_once(call, pauses):
    for failure, kind in ((refused(503), Unavailable), (BROKEN, Unreachable)):
        site = SiteDouble(failure)
        with pytest.raises(kind):
            call(site.client())
        assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (401, TokenRefused),
        (403, NotAllowed),
        (404, NotFound),
        (409, Refused),
        (410, PositionGone),
        (422, InvalidRequest),
        (500, Refused),
    ],
)
def test_every_refusal_has_a_class_with_status_text_and_request(status, kind, pauses):
    site = SiteDouble(refused(status, "the reason"))
    with pytest.raises(kind) as caught:
        site.client().accounts.get("42")
    error = caught.value
    request_id = site.asked[0].headers["X-Request-Id"]
    assert (error.status, error.text, error.request_id) == (status, "the reason", request_id)
    assert str(error) == f"{status}: the reason (request {request_id})"
    assert len(site.asked) == 1


def test_details_name_the_field():
    body = {"error": "wrong", "details": {"username": [{"error": "ERR_TAKEN"}]}}
    site = SiteDouble(httpx.Response(422, json=body))
    with pytest.raises(InvalidRequest) as caught:
        site.client().provisioning.put("1", username="ann")
    assert [*caught.value.details] == ["username"]


def test_a_page_of_a_proxy_is_not_shown(pauses):
    site = SiteDouble(httpx.Response(502, text="<html>secret of the proxy"))
    with pytest.raises(Refused, match="was answered with 502"):
        site.client().accounts.get("42")


def test_it_waits_as_long_as_tideline_says(pauses):
    site = SiteDouble(refused(503, **{"Retry-After": "3"}), ok(ACCOUNT))
    site.client().accounts.get("42")
    [pause] = pauses
    assert 3 <= pause < 4


@pytest.mark.parametrize("text", ["Wed, 99 Oct 2026 07:28:00 GMT", "-1", "٣", ""])
def test_another_retry_after_is_a_second(text, pauses):
    headers = httpx.Headers({"Retry-After": text}, encoding="utf-8")
    failure = httpx.Response(503, json={"error": "no"}, headers=headers)
    SiteDouble(failure, ok(ACCOUNT)).client().accounts.get("42")
    [pause] = pauses
    assert 1 <= pause < 2


@pytest.mark.parametrize(("after_s", "least"), [(-60, 0), (3, 2)])
def test_a_date_of_a_proxy_is_waited_for(after_s, least, pauses):
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=after_s), usegmt=True)
    SiteDouble(refused(503, **{"Retry-After": at}), ok(ACCOUNT)).client().accounts.get("42")
    [pause] = pauses
    assert least <= pause < least + 2


def test_a_pause_beyond_the_deadline_is_not_made(pauses):
    site = SiteDouble(refused(503, **{"Retry-After": "30"}))
    with pytest.raises(Unavailable) as caught:
        site.client(deadline_ms=10_000).accounts.get("42")
    assert caught.value.retry_after_s == 30
    assert pauses == []


def test_pauses_double_up_to_a_bound():
    tries = Tries(Patience(600_000, 9), True, now=lambda: 0.0, random_part=lambda: 1.0)
    pauses = [tries.pause_after(Unreachable("")) for _ in range(7)]
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, LONGEST_PAUSE_S, LONGEST_PAUSE_S]


def test_tideline_learns_how_much_of_the_deadline_is_left():
    clock = iter([0.0, 0.0, 0.7, 0.7])
    tries = Tries(Patience(1_000, 2), True, now=lambda: next(clock))
    assert tries.headers()["Tideline-Deadline-Ms"] == "1000"
    assert 290 <= int(tries.headers()["Tideline-Deadline-Ms"]) <= 300
    site = SiteDouble(ok(ACCOUNT))
    site.client().with_patience(deadline_ms=250).accounts.get("42")
    assert 200 < int(site.asked[0].headers["Tideline-Deadline-Ms"]) <= 250


@contextmanager
def impatient(url):
    """httpx itself has no time-outs here."""
    with httpx.Client(timeout=None) as http:
        yield Tideline(url, deadline_ms=300, http=http)


@pytest.fixture
def slow_server():
    """Sends a byte each 50 ms, for ever."""
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            try:
                while not is_over.wait(0.05):
                    self.wfile.write(b" ")
            except OSError:
                pass

        def log_message(self, *_):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    is_over.set()
    server.shutdown()
    server.server_close()


def test_a_server_that_dribbles_ends_at_the_deadline(slow_server):
    began = time.monotonic()
    with impatient(slow_server) as client, pytest.raises(DeadlineExceeded):
        client.site.get()
    assert 0.25 < time.monotonic() - began < LONGEST_S


def test_a_server_that_says_nothing_ends_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with impatient(url) as client, pytest.raises(DeadlineExceeded):
            client.site.get()
        assert 0.25 < time.monotonic() - began < LONGEST_S


def test_nobody_listens():
    with Tideline("http://127.0.0.1:9", retries=0) as client, pytest.raises(Unreachable):
        client.site.get()
