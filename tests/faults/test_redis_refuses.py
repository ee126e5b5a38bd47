"""Redis answers reads and refuses all writes: a replica is away, its memory or its disk is full, or
another server takes its place.

It cannot forget what an account has just taken out, so it counts as away for all processes: also
for those that only read, which no refusal reaches by itself.
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.errors import RedisRefuses
from infra.read_limits import ACCEPTED_S
from lab.faults.cluster.redis_refusals import REFUSALS, refusing_writes
from relations.actions.follow import follow
from tests.api_process import IMPATIENT, ApiProcess
from tests.callers import token_of
from tests.faults.test_redis_faults import is_left_alone, wait_for
from tests.waiting import until
from tests.world import drain_all, make_account

# Far above the time that a process needs to use Redis again, for a crowded machine.
SOON_S = 5
PAGES = 15
TEXT = "a word that is on no other page"


@pytest.fixture
def refuse(request):
    """Makes a Redis refuse writes in one of the ways, and proves that it does."""

    def begin(server, way="NOREPLICAS"):
        stack = ExitStack()
        request.addfinalizer(stack.close)
        stack.enter_context(refusing_writes(Path(urlsplit(server.url).path), way))
        return stack.close

    return begin


def test_it_is_left_alone_until_it_accepts_writes(server, client, refuse):
    client.call("SET", "a", 1)
    accept = refuse(server)
    with pytest.raises(RedisRefuses):
        client.call("SET", "a", 2)
    for _ in range(20):
        with pytest.raises(RedisConnectionError):
            client.call("GET", "a")
    assert is_left_alone(client)
    accept()
    wait_for(b"1", lambda: client.call("GET", "a"))


def writes_of(server):
    with Redis.from_url(server.url) as admin:
        return admin.info("commandstats").get("cmdstat_eval", {"calls": 0})["calls"]


def test_one_write_a_moment_proves_it(server, client):
    """Thousands of reads cost few writes, and no round trip of their own."""
    before, began_at = writes_of(server), time.monotonic()
    for _ in range(3_000):
        client.call("GET", "a")
    most = (time.monotonic() - began_at) / ACCEPTED_S + 1
    assert 1 <= writes_of(server) - before <= most


class Post:
    """A post of Ann. Bob has a bookmark of it, a favourite and a mention in it."""

    def __init__(self, people, number):
        self.people, self.text = people, f"{TEXT} {number}."
        body = {"status": f"{self.text} @bob #tea{number}"}
        self.id = people.ask("POST", "statuses", people.anns, body)["id"]
        self.tag = f"tea{number}"

    def mark(self):
        """When its mention is delivered."""
        for act in ("bookmark", "favourite"):
            self.people.ask("POST", f"statuses/{self.id}/{act}", self.people.bobs)

    def delete(self):
        self.people.ask("DELETE", f"statuses/{self.id}", self.people.anns)

    def block(self):
        self.people.ask("POST", f"accounts/{self.people.bob}/block", self.people.anns)

    def pages_of_bob(self):
        one = self.people
        api = (
            f"statuses/{self.id}", f"accounts/{one.ann}/statuses", f"timelines/tag/{self.tag}",
            "timelines/public", "bookmarks", "favourites", "notifications", "timelines/home",
            f"timelines/list/{one.list}",
        )  # fmt: skip
        return [(one.bobs, f"/api/v1/{path}") for path in api]

    def pages(self):
        """Bob's pages, Ann's own, and those of guests."""
        anns = (f"statuses/{self.id}/source", f"accounts/{self.people.ann}/statuses")
        guests = (f"/statuses/{self.id}", "/@ann", f"/tags/{self.tag}", "/public")
        own = [(self.people.anns, f"/api/v1/{path}") for path in anns]
        return [*self.pages_of_bob(), *own, *((None, path) for path in guests)]


class People:
    """Bob follows Ann, and has her on a list. They write by one process."""

    def __init__(self, writer, count):
        self.ann, self.bob = make_account("ann"), make_account("bob")
        self.anns, self.bobs = token_of(self.ann), token_of(self.bob)
        self._writer = writer
        follow(self.bob, self.ann)
        self.list = self.ask("POST", "lists", self.bobs, {"title": "few"})["id"]
        members = {"account_ids": [str(self.ann)]}
        self.ask("POST", f"lists/{self.list}/accounts", self.bobs, members)
        self.posts = [Post(self, number) for number in range(count)]
        drain_all()
        for post in self.posts:
            post.mark()
        drain_all()

    def ask(self, method, path, token, body=None):
        status, text = self._writer.do(method, token, f"/api/v1/{path}", body)
        assert status == 200, text
        return json.loads(text)


@pytest.fixture(scope="module")
def webs(private):
    """Two processes that serve requests as web servers do."""
    pair = [ApiProcess(**IMPATIENT) for _ in range(2)]
    for one in pair:
        one.do("wait_for_drain")
    yield pair
    for one in pair:
        one.close()


def use_redis(webs):
    for one in webs:
        until(partial(one.do, "ask_redis"), SOON_S)


def shows(web, page, post):
    status, text = web.do("GET", *page)
    assert status in (200, 404), text
    return post.text in text


def busy_during(act, reader, page, post):
    """The act runs while a process reads this page without a pause, as it does for many clients."""
    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(act)
        while not acting.done():
            shows(reader, page, post)
        return acting.result()


WAYS = [*((way, "delete") for way in REFUSALS), ("NOREPLICAS", "block"), ("PAUSE", "block")]


@pytest.mark.parametrize(("way", "act"), WAYS)
def test_no_process_shows_what_was_taken_out(services, webs, refuse, way, act):
    """The reading process writes nothing. It reads all the time, and at once after the answer."""
    use_redis(webs)
    writer, reader = webs
    [post] = People(writer, 1).posts
    pages = post.pages() if act == "delete" else post.pages_of_bob()
    assert [page for page in pages if not shows(reader, page, post)] == []

    def refuse_and_act():
        accept = refuse(services.redis, way)
        getattr(post, act)()
        return accept

    accept = busy_during(refuse_and_act, reader, pages[0], post)
    assert [page for page in pages if shows(reader, page, post)] == []
    accept()
    drain_all()
    use_redis(webs)
    assert [page for page in pages for one in webs if shows(one, page, post)] == []


def test_it_holds_for_each_page_that_is_read_all_the_time(services, webs, refuse):
    """One post for each page, so that no page knows from another one that Redis refuses writes."""
    use_redis(webs)
    writer, reader = webs
    posts = People(writer, PAGES).posts
    for number, post in enumerate(posts):
        page = post.pages()[number]
        assert shows(reader, page, post)

        def refuse_and_delete(post=post):
            accept = refuse(services.redis)
            post.delete()
            return accept

        accept = busy_during(refuse_and_delete, reader, page, post)
        assert not shows(reader, page, post), page
        accept()
        drain_all()
        use_redis(webs)


def test_redis_is_used_soon_after_it_accepts_writes(services, webs, refuse):
    """Nothing waits for delivery, so no process has to wait for it."""
    use_redis(webs)
    accept = refuse(services.redis)
    until(lambda: not any(one.do("ask_redis") for one in webs))
    accept()
    began_at = time.monotonic()
    use_redis(webs)
    assert time.monotonic() - began_at < SOON_S
