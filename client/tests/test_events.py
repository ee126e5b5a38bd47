"""Following the change feed: it waits without asking, and goes on after outages."""

from itertools import islice
from typing import Any

import httpx
import pytest

from site_double import SiteDouble, ok, refused
from tideline_client import NotAllowed, PositionGone
from tideline_client.waiting import ASK_AGAIN_S

STREAMING = "wss://stream.example.org"
READ, WAIT = "/api/v1/services/events", "/api/v1/streaming/services/events"


def event(number: int) -> dict[str, Any]:
    return {
        "id": f"shard0-{number}",
        "type": "post.created",
        "timestamp": "2026-11-27T18:00:00+00:00",
        "data": {"account_id": "7"},
    }


class Feed:
    """Two events; then none until somebody waits, who gets the third one."""

    def __init__(self, streaming: str = STREAMING) -> None:
        self.streaming = streaming
        self.paths: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(f"{request.url.host}{request.url.path}")
        if request.url.path == "/api/v2/instance":
            return ok(site(self.streaming))
        after = int(request.url.params["after"])
        if request.url.path == READ:
            last = min(after + 1, 2)
            return page([event(number) for number in range(after + 1, last + 1)], max(after, last))
        return page([event(after + 1)], after + 1)


def page(events: list[Any], position: int) -> httpx.Response:
    has_more = position < 2
    return ok({"events": events, "position": str(position), "has_more": has_more, "missing": []})


def site(streaming: str) -> dict[str, Any]:
    return {
        "domain": "x", "title": "x", "version": "4.3", "source_url": "", "description": "",
        "usage": {}, "thumbnail": {}, "icon": [], "languages": [], "registrations": {},
        "configuration": {"urls": {"streaming": streaming}}, "api_versions": {}, "contact": {},
        "rules": [],
    }  # fmt: skip


def positions(client: Any, count: int, after: str = "0") -> list[str]:
    return [each.position for each in islice(client.events.follow(after), count)]


def test_it_reads_what_is_there_and_then_waits_at_the_streaming_process(pauses):
    feed = Feed()
    assert positions(SiteDouble(feed).client(), 4) == ["1", "2", "3", "4"]
    assert pauses == []
    assert feed.paths == [
        f"feed.example.org{READ}",
        f"feed.example.org{READ}",
        f"feed.example.org{READ}",
        "feed.example.org/api/v2/instance",
        f"stream.example.org{WAIT}",
        f"feed.example.org{READ}",
        f"stream.example.org{WAIT}",
    ]


@pytest.mark.parametrize("streaming", ["", "ftp://x", "wss://stream.example.org"])
def test_without_a_streaming_process_it_asks_each_second(streaming, pauses):
    feed = Feed(streaming)

    def answer(request: httpx.Request) -> httpx.Response:
        return refused(404) if request.url.path == WAIT else feed(request)

    assert positions(SiteDouble(answer).client(), 5) == ["1", "2", "2", "2", "2"]
    assert pauses == [1.0, 1.0, 1.0]
    assert feed.paths.count("feed.example.org/api/v2/instance") == 1, "it asks each time"
    assert ASK_AGAIN_S > 10


def test_it_goes_on_after_an_outage(pauses):
    feed = Feed()
    outage: list[httpx.Response | Exception] = [
        refused(503, **{"Retry-After": "7"}),
        httpx.ConnectError("no"),
        refused(504),
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        if not outage:
            return feed(request)
        failure = outage.pop(0)
        if isinstance(failure, Exception):
            raise failure
        return failure

    assert positions(SiteDouble(answer).client(retries=0), 2) == ["1", "2"]
    assert pauses[0] == 7
    assert 1 <= pauses[1] <= 2 <= pauses[2] <= 4


@pytest.mark.parametrize(("status", "kind"), [(410, PositionGone), (403, NotAllowed)])
def test_what_does_not_get_better_ends_it(status, kind, pauses):
    with pytest.raises(kind):
        positions(SiteDouble(refused(status)).client(), 1)
    assert pauses == []


def test_a_reader_without_a_position_gets_that_of_now():
    answer = ok({"events": [], "position": "9", "has_more": False, "missing": []})
    double = SiteDouble(answer)
    assert double.client().events.read().position == "9"
    assert dict(double.asked[0].url.params) == {}
