"""A client that polls a tag timeline receives every post, also those that arrive late."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import connections

from infra.api.pages import Window
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.delete_post import delete_post
from posts.ids import EPOCH, PostId
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.timelines.polling_clients import CLIENTS, MinIdClient
from tests.integration.timelines.slow_commits import slow_commits
from tests.plans import nodes_of, rows_handled, settle
from tests.world import drain_all, make_accounts
from tests.world import publish as publish_only
from timelines.polling.records import SINCE, Poller
from timelines.tags.actions.index_posts import index_posts, settle_tagged
from timelines.tags.feed import tag_page
from timelines.tags.queries.late_tagged import load_late_tagged
from timelines.tags.types import TagQuery, tag_id_of

SECONDS, POSTS_A_SECOND = 3.0, 30
TAGS = ["tea", "milk"]
NOW = int(time.time()) - EPOCH
FILL = """
INSERT INTO tags_taggedpost (tag_id, second, author_id, sequence, arrival)
SELECT %s, %s - n, n + 2, 0, (%s - n) * 1000::bigint + 100 FROM generate_series(0, 80000) n
"""
LATE = """
UPDATE tags_taggedpost SET arrival = arrival + 60000 WHERE second >= %s AND second < %s
"""


def reader_of(viewer_id, client, tags=("tea",)):
    return lambda window: tag_page(TagQuery(viewer_id, tags), window, client)


def age(*tags, s=3_600):
    """What was written until now has been visible for long."""
    for tag in tags or TAGS:
        sql = "UPDATE tags_taggedpost SET arrival = arrival - %s WHERE arrival > 0"
        execute(shard_of(tag_id_of(tag)), sql, (s * 1000,))


def publish(author, text, **options):
    """The index has it."""
    post_id = publish_only(author, text, **options)
    drain_all()
    return post_id


@pytest.fixture
def people(world):
    return make_accounts(12)


def test_nothing_is_lost_while_shards_and_lanes_are_late(people):
    """The shards of two tags."""
    assert len({shard_of(tag_id_of(tag)) for tag in TAGS}) == 2
    chance = random.Random(5)
    me, *authors = people
    made = [publish(authors[0], "#tea")]
    drain_all()
    clients = [
        (pause_s, kind(reader_of(me, f"{name} {pause_s}", TAGS)))
        for name, kind in CLIENTS.items()
        for pause_s in (0.1, 0.5, 1.2)
    ]
    start, polled = time.monotonic(), [0.0] * len(clients)
    while (now := time.monotonic() - start) < SECONDS:
        if len(made) < now * POSTS_A_SECOND:
            made.append(publish_only(chance.choice(authors), f"#{chance.choice(TAGS)}"))
        if chance.random() < 0.05:
            drain_all()
        for n, (pause_s, client) in enumerate(clients):
            if now - polled[n] >= pause_s:
                client.poll()
                polled[n] = now
    for later_s in range(4, 44, 4):
        # What a full page may have had comes once more with the pages that move a client on, some
        # with each: with two or three of them, on a slow machine more.
        made.append(publish(authors[0], "#tea", clock_s=lambda: time.time() + later_s))  # noqa: B023
        for _, client in clients:
            client.poll_to_end()
        missing = [len(set(made) - client.seen) for _, client in clients]
        if not any(missing):
            return
    raise AssertionError(missing)


def test_the_other_post_of_a_second_is_received_over_http(people):
    second = int(time.time())
    me, low, high = people[:3]
    first = publish(high, "#tea", clock_s=lambda: second)
    caller, path = Caller(me), "/api/v1/timelines/tag/Tea"
    seen = caller.get(path)
    then = publish(low, "#tea", clock_s=lambda: second)
    assert ids_of(seen) == [first.public]
    assert then < first
    assert then.public in ids_of(caller.get(path, {"since_id": first.public}))
    assert then.public in ids_of(caller.get(seen.headers["Link"].split("<")[1].split(">")[0]))


@pytest.fixture
def client(people):
    """Has polled for long, and so has a record: it gets a late post once more at most."""
    publish(people[2], "#tea")
    drain_all()
    age()
    client = MinIdClient(reader_of(people[0], "token"))
    client.poll()
    poller = Poller(people[0], TagQuery(people[0], ("tea",)).digest, "token")
    redis().call("HSET", poller.key, SINCE, 0)
    publish(people[2], "#tea")
    client.poll()
    return client


def late_post(people, text="#tea"):
    return publish(people[1], text, clock_s=lambda: time.time() - 600)


def test_a_late_post_does_not_move_the_cursor_back_and_comes_once(people, client):
    cursor, late = client.cursor, late_post(people)
    assert client.poll() == [late]
    assert client.cursor == cursor
    assert client.poll() == []


def test_polls_of_other_tags_have_records_of_their_own(people, client):
    late = late_post(people, "#tea #milk")
    other = MinIdClient(reader_of(people[0], "token", ("milk",)))
    other.cursor = client.cursor
    assert client.poll() == [late]
    other.poll()
    assert other.seen == {late}


@pytest.mark.parametrize(
    "hide", [lambda me, late: delete_post(late), lambda me, late: mute(me, late.author_id)]
)
def test_late_posts_follow_the_rules(people, client, hide):
    hide(people[0], late_post(people))
    assert client.poll() == []


def test_a_tag_that_comes_by_an_edit_is_late_and_the_others_are_not(people, client):
    milk = MinIdClient(reader_of(people[0], "token", ("milk",)))
    old = late_post(people, "#milk")
    drain_all()
    age()
    milk.cursor = client.cursor
    milk.poll()
    path, sent = f"/api/v1/statuses/{old.public}", {"status": "#milk #tea"}
    edited = Caller(people[1]).client.put(path, sent, "application/json")
    assert edited.status_code == 200
    drain_all()
    assert client.poll() == [old]
    assert milk.poll() == []


def test_a_row_that_is_delivered_again_was_not_visible_before(people, client):
    """Its transaction may have hung when it ended."""
    late = publish_only(people[1], "#tea", clock_s=lambda: time.time() - 600)
    index_posts({late: ["tea"]})
    age("tea", s=10)
    assert client.poll() == []
    drain_all()
    assert client.poll() == [late]


def test_a_time_that_became_visible_late_is_set_again(people, client):
    """The shard's disk is busy. A client polls while it commits that a post is visible now."""
    alias, late = shard_of(tag_id_of("tea")), late_post(people)
    age("tea", s=10)
    with slow_commits(alias, "tags_taggedpost", 0.6), ThreadPoolExecutor(1) as threads:
        settled = threads.submit(settle_tagged, {late: ["tea"]})
        time.sleep(0.4)  # the commit goes on, and MARGIN_MS is over
        new = publish(people[2], "#tea")
        assert client.poll() == [new]
        settled.result()
        threads.submit(connections.close_all).result()
    assert client.poll() == [late]


def test_rows_of_a_backfill_are_old(people, client):
    late_post(people)
    drain_all()
    execute(shard_of(tag_id_of("tea")), "DELETE FROM tags_taggedpost")
    call_command("backfill", "tags", verbosity=0)
    assert client.poll() == []
    assert len(tag_page(TagQuery(people[0], ["tea"]), Window(20)).items) == 3


@pytest.fixture
def busy_tag(world):
    """A post a second for a day, each a tenth of a second after its second; 300 arrived late."""
    alias, tag_id = shard_of(tag_id_of("tea")), tag_id_of("tea")
    execute(alias, FILL, (tag_id, NOW, NOW + EPOCH))
    execute(alias, LATE, (NOW - 7_200, NOW - 6_900))
    settle(alias, "tags_taggedpost")
    yield alias
    execute(alias, "TRUNCATE tags_taggedpost")


POLLS = {
    "polls all the time": (NOW, (NOW + EPOCH) * 1000 - 2_000, 2),
    "an old cursor, a recent poll": (NOW - 6_000, (NOW + EPOCH) * 1000, 0),
    "late since the floor": (NOW - 6_900, (NOW - 7_200 + EPOCH) * 1000 + 59_000, 300),
}


def test_a_poll_of_a_busy_tag_reads_few_rows(busy_tag):
    for name, (cursor, floor_ms, found) in POLLS.items():
        with count_calls() as calls:
            late = load_late_tagged(["tea"], PostId(cursor, 1, 0), floor_ms)
        assert len(late.posts) == found, name
        nodes = nodes_of(calls.statements[0])
        of_index = [one for one in nodes if one.get("Relation Name") == "tags_taggedpost"]
        assert sum(map(rows_handled, of_index)) <= 2 * found + 1_300, name
