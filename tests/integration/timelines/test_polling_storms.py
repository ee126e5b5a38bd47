"""Clients of one token that poll while posts come fast and another one reads the newest page."""

import random
import time as clock
from collections import Counter

import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.types import RepliesPolicy
from tests.callers import Caller, ids_of
from tests.integration.timelines.indexed import complete_index
from tests.integration.timelines.polling_clients import MinIdClient, SinceIdClient
from tests.integration.timelines.virtual_time import VirtualTime
from tests.world import drain_all, make_accounts, publish
from timelines import cache
from timelines.home.page import home_page

STEP_MS, STEPS, POLLED_EVERY = 50, 160, 20
# Seconds without posts at the end.
CALM_S = 12


class UntilNotFull(MinIdClient):
    """Asks on while a page is full, because a full page says that there is more."""

    def poll(self):
        found = page = super().poll()
        while len(page) == self.limit:
            page = super().poll()
            found = [*page, *found]
        return found


class Storm:
    """20 posts a second, each delivered at once. Ids of one second are in the order of authors, so
    most posts arrive below others."""

    def __init__(self, time, author_count, limit, other_limit):
        self.time, self.chance, self.limit = time, random.Random(author_count), limit
        self.me, *self.authors = make_accounts(author_count + 1)
        for author in self.authors:
            follow(self.me, author)
        drain_all()
        complete_index(0)
        self.made = [self.publish()]
        kinds = (SinceIdClient, limit), (UntilNotFull, limit), (UntilNotFull, other_limit)
        self.clients = [kind(self.read, most) for kind, most in kinds]

    def read(self, window):
        page = home_page(self.me, window, self.time.clock_ms, "token")
        assert len(page.items) <= window.limit
        return page

    def publish(self):
        made = publish(self.chance.choice(self.authors), clock_s=self.time.clock_s)
        drain_all()
        self.time.stamp()
        return made

    def run(self):
        """Each client polls once a second; the newest page is read all the time. The first polls
        have no records."""
        for client in self.clients:
            client.poll()
        self.time.pass_ms(4_000)
        for step in range(STEPS):
            self.made.append(self.publish())
            self.read(Window(self.limit))
            for n, client in enumerate(self.clients):
                if step % POLLED_EVERY == 7 * n:
                    client.poll()
            self.time.pass_ms(STEP_MS)
        for _ in range(CALM_S):
            self.made.append(self.publish())
            self.read(Window(self.limit))
            for client in self.clients:
                client.poll()
            self.time.pass_ms(1_000)


@pytest.mark.slow
@pytest.mark.parametrize(("author_count", "limit", "other_limit"), [(24, 40, 40), (12, 20, 19)])
def test_in_a_storm_no_post_is_lost_or_comes_three_times_and_polls_are_few(
    world, each_index, monkeypatch, author_count, limit, other_limit
):
    storm = Storm(VirtualTime(monkeypatch), author_count, limit, other_limit)
    storm.run()
    most_requests = (40 // limit + 1) * STEPS // POLLED_EVERY + 2 * CALM_S
    for client in storm.clients:
        assert set(storm.made) <= client.seen
        times = Counter(post for answer in client.got for post in answer)
        assert max(times.values()) <= 2
        assert len(client.got) <= most_requests


def path_of_home(_me, _authors):
    return "/api/v1/timelines/home"


def path_of_list(me, authors):
    made = create_account_list(me, "close", RepliesPolicy.LIST)
    add_members(me, made.list_id, authors)
    return f"/api/v1/timelines/list/{made.list_id}"


def path_of_tag(_me, _authors):
    return "/api/v1/timelines/tag/tea"


def path_of_public(_me, _authors):
    return "/api/v1/timelines/public"


@pytest.mark.parametrize("path_of", [path_of_home, path_of_list, path_of_tag, path_of_public])
@pytest.mark.parametrize("has_polled", [False, True])
def test_posts_that_came_at_once_come_once_more_at_most(world, each_index, path_of, has_polled):
    """The client has the newest of them from a page. The server cannot know that it has all."""
    me, *authors = make_accounts(7)
    for author in authors:
        follow(me, author)
    drain_all()
    caller, path = Caller(me), path_of(me, authors)
    first = publish_tea(authors[0])
    if has_polled:
        caller.get(path, {"min_id": first.public})
    newest = max([publish_tea(author) for author in authors]).public
    assert newest in ids_of(caller.get(path))
    again = Counter(i for _ in range(10) for i in ids_of(caller.get(path, {"min_id": newest})))
    assert max(again.values(), default=0) <= 1
    for later_s in (4, 8):
        last = publish_tea(authors[0], later_s)
        page = ids_of(caller.get(path, {"min_id": newest}))
        assert page.count(last.public) == 1
        again, newest = again + Counter(page), last.public
    assert max(again.values()) <= 2, "another client with the token may have the cursor"


def publish_tea(author, later_s=0):
    made = publish(author, "#tea", clock_s=lambda: clock.time() + later_s)
    drain_all()
    redis().call("DEL", cache.public_ids.key(cache.ALL_AUTHORS))
    return made
