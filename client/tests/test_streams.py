"""Streams: events are read whole, and go on after each broken connection where they were."""

import json
from itertools import islice

import pytest

from failing_server import FAULTS, send, serving
from site_double import STATUS, SiteDouble, ok
from test_events import site
from tideline_client import AsyncTideline, NotAllowed, Tideline, UnexpectedAnswer, models, waiting
from tideline_client.streams import EventParser

USER = "/api/v1/streaming/user"
pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(waiting.Pauses, "after", lambda self, error: _check(self, error))


def _check(pauses, error):
    if not pauses._may_pass(error):
        raise error
    return 0.0


def block(number, text="Hello"):
    status = json.dumps(STATUS | {"id": str(number), "content": text}, ensure_ascii=False)
    return f"event: update\ndata: {status}\nid: p{number}\n\n".encode()


class Stream:
    """Sends one event a connection, and ends. The next begins behind `Last-Event-ID`."""

    def __init__(self):
        self.seen = []

    def __call__(self, handler):
        last = handler.headers.get("Last-Event-ID", "p0")
        self.seen.append(last)
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"retry: 1000\n\n:)\n\n" + block(int(last[1:]) + 1))
        handler.close_connection = True


@pytest.fixture
def server():
    stream = Stream()
    with serving({USER: stream}) as served:
        served.answers["/api/v2/instance"] = site(served.url.replace("http", "ws"))
        served.stream = stream
        yield served


def test_it_goes_on_where_it_broke_off(server):
    with Tideline(server.url, "token") as client:
        events = client.streams.follow("user")
        shown = [each.read_as(models.Status).id for each in islice(events, 3)]
    assert shown == ["1", "2", "3"]
    assert server.stream.seen == ["p0", "p1", "p2"]
    assert server.headers["accept"] == "text/event-stream"
    assert server.headers["authorization"] == "Bearer token"


@pytest.mark.parametrize("fault", FAULTS)
def test_it_goes_on_after_each_fault(server, fault):
    with Tideline(server.url, "token", retries=0) as client:
        events = client.streams.follow(last_event_id="p6")
        assert next(events).id == "p7"
        server.faults = [fault, "", fault]
        assert next(events).id == "p8"


async def test_it_is_the_same_in_async_code(server):
    async with AsyncTideline(server.url, "token") as client:
        ids = []
        async for event in client.streams.follow("user"):
            ids.append(event.id)
            if len(ids) == 2:
                break
    assert ids == ["p1", "p2"]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [(403, b'{"error": "no"}', NotAllowed), (200, b"<html>", UnexpectedAnswer)],
)
def test_what_does_not_get_better_ends_it(server, status, body, kind):
    server.answers[USER] = lambda handler: send(handler, status, body)
    with Tideline(server.url, "token") as client, pytest.raises(kind):
        next(client.streams.follow())


def test_a_site_without_streams_says_so():
    with pytest.raises(UnexpectedAnswer, match="address of streams"):
        next(SiteDouble(ok(site(""))).client().streams.follow())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_events_are_read_in_parts_of_any_size(end, size):
    text = "line\u2028separator\x85"
    whole = (b":)\n\nretry: 1000\nid: p0\n\n" + block(1, text)).replace(b"\n", end.encode())
    parser = EventParser()
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    blocks = [fields for part in parts for fields in parser.feed(part)]
    assert [fields["id"] for fields in blocks] == ["p0", "p1"]
    assert json.loads(blocks[1]["data"])["content"] == text


def test_several_lines_of_data_are_one_text():
    [fields] = EventParser().feed(b"event: x\ndata: a\ndata: b\n\n")
    assert fields["data"] == "a\nb"


def test_a_message_without_end_is_refused():
    with pytest.raises(UnexpectedAnswer):
        list(EventParser().feed(b"data: " + b"x" * 5_000_000))


def test_other_data_says_so(server):
    with Tideline(server.url, "token") as client, pytest.raises(UnexpectedAnswer):
        next(client.streams.follow()).read_as(int)
