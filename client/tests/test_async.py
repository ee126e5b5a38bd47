"""The same in async code."""

import socket
import time

import httpx
import pytest

from site_double import ACCOUNT, BOUND, STATUS, SiteDouble, ok, refused
from test_failures import LONGEST_S
from test_pages import pages, related
from tideline_client import AsyncTideline, DeadlineExceeded, NotFound, Unavailable

pytestmark = pytest.mark.anyio


async def test_a_call():
    site = SiteDouble(ok(STATUS))
    async with site.async_client() as client:
        assert (await client.acting_for("42").statuses.create("Hello")).id == STATUS["id"]
    assert site.asked[0].headers["Tideline-Account"] == "42"


async def test_acting_by_the_id_of_the_product():
    site = SiteDouble(ok(BOUND), ok([]))
    ann = await site.async_client().acting_for_external_id("1")
    await ann.timelines.home().first()
    assert site.asked[1].headers["Tideline-Account"] == "42"


async def test_a_read_is_tried_again():
    site = SiteDouble(httpx.ConnectError("no"), refused(503, **{"Retry-After": "0"}), ok(ACCOUNT))
    assert (await site.async_client().accounts.get("42")).id == "42"
    with pytest.raises(NotFound):
        await SiteDouble(refused(404)).async_client().accounts.get("42")
    with pytest.raises(Unavailable):
        await SiteDouble(refused(503)).async_client(retries=0).accounts.get("42")


async def test_lists():
    home = pages().async_client().timelines.home(limit=2)
    assert [status.id async for status in home] == ["9", "8", "7"]
    page = await pages().async_client().timelines.home(limit=2).first()
    assert page.next == {"max_id": "8"}


async def test_relations():
    relations = SiteDouble(related).async_client().relations
    assert await relations.followers_among("42", ["1", "2"]) == {"2"}
    assert await relations.followed_among("42", ["1", "2"]) == {"1", "2"}


async def test_a_silent_server_ends_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with httpx.AsyncClient(timeout=None) as http:
            client = AsyncTideline(url, deadline_ms=300, http=http)
            with pytest.raises(DeadlineExceeded):
                await client.site.get()
        assert 0.25 < time.monotonic() - began < LONGEST_S


async def test_following_events():
    site = SiteDouble(ok({"events": [], "position": "a", "has_more": True, "missing": []}))
    async for page in site.async_client().events.follow("start"):
        assert page.position == "a"
        break
