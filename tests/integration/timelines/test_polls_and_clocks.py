"""Polls while the clocks of web servers differ by half a minute, and after a clock went back."""

import time

import pytest
from django.conf import settings

from infra.caching.client import redis
from infra.sharding.sql import execute
from tests.integration.timelines.polling_clients import MinIdClient, SinceIdClient
from tests.integration.timelines.test_polling_rules import Late
from tests.integration.timelines.virtual_time import VirtualTime
from tests.world import drain_all, make_accounts, publish
from timelines.tags.feed import tag_page
from timelines.tags.types import TagQuery

AHEAD_S, DAY_MS = 30, 86_400_000


@pytest.fixture
def late(world, each_index, monkeypatch):
    return Late(VirtualTime(monkeypatch))


@pytest.mark.parametrize("kind", [MinIdClient, SinceIdClient])
@pytest.mark.parametrize("wait_s", [5, 45])
def test_no_post_is_lost_below_one_of_a_server_whose_clock_is_ahead(late, kind, wait_s):
    late.post()
    late.time.pass_ms(5_000)
    ahead = late.post(ago_s=-AHEAD_S, author=late.other)
    client = kind(late.read)
    assert client.cursor == ahead
    late.time.pass_ms(1_000)
    first = late.post()
    late.time.pass_ms(wait_s * 1_000)
    second = late.post()
    client.poll()
    assert {first, second} <= client.seen


@pytest.mark.parametrize("kind", [MinIdClient, SinceIdClient])
def test_nor_below_an_own_one(late, kind):
    late.post()
    late.time.pass_ms(5_000)
    own = late.post(ago_s=-AHEAD_S, author=late.me)
    client = kind(late.read)
    assert client.cursor == own
    late.time.pass_ms(3_000)
    made = []
    for _ in range(4):
        made.append(late.post())
        late.time.pass_ms(5_000)
        client.poll()
    assert {*made} <= client.seen


@pytest.mark.parametrize("kind", [MinIdClient, SinceIdClient])
@pytest.mark.parametrize("has_record", [True, False])
def test_after_a_day_was_taken_back_no_post_waits_for_the_clock(late, kind, has_record):
    client = late.begin(kind)
    late.time.now_ms += DAY_MS
    future = late.post(author=late.other)
    assert client.poll() == [future]
    client.poll()
    late.time.now_ms -= DAY_MS
    if not has_record:
        redis().call("FLUSHDB")
    late.time.pass_ms(10_000)
    made = late.post()
    late.time.pass_ms(10_000)
    assert made in client.poll()
    late.time.pass_ms(10_000)
    made = late.post()
    late.time.pass_ms(10_000)
    assert made in client.poll()


@pytest.mark.parametrize("kind", [MinIdClient, SinceIdClient])
def test_a_tag_timeline_loses_none_either(world, kind):
    ahead, author = make_accounts(2)
    cursor = publish(ahead, "#tea", clock_s=lambda: time.time() + AHEAD_S)
    drain_all()
    client = kind(lambda window: tag_page(TagQuery(None, ("tea",)), window, "token"))
    assert client.cursor == cursor
    made = publish(author, "#tea")
    drain_all()
    client.poll()
    assert made in client.seen


TAKE_BACK = "UPDATE tags_taggedpost SET arrival = arrival + %s"


@pytest.mark.parametrize("has_record", [True, False])
def test_nor_after_a_day_was_taken_back(world, has_record):
    ahead, author = make_accounts(2)
    publish(author, "#tea")
    drain_all()
    client = MinIdClient(lambda window: tag_page(TagQuery(None, ("tea",)), window, "token"))
    client.poll()
    cursor = publish(ahead, "#tea", clock_s=lambda: time.time() + 86_400)
    drain_all()
    for alias in settings.SHARD_ALIASES:
        execute(alias, TAKE_BACK, (DAY_MS,))
    assert client.poll() == [cursor]
    if not has_record:
        redis().call("FLUSHDB")
    made = publish(author, "#tea")
    drain_all()
    client.poll()
    assert made in client.seen
