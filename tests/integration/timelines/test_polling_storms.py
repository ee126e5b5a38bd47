"""Clients of one token that poll while posts come fast and another one reads the newest page."""

import random

import pytest

from infra.api.pages import Window
from relations.actions.follow import follow
from tests.integration.timelines.indexed import complete_index
from tests.integration.timelines.polling_clients import MinIdClient, SinceIdClient
from tests.integration.timelines.virtual_time import VirtualTime
from tests.world import drain_all, make_accounts, publish
from timelines.home.page import home_page

pytestmark = pytest.mark.slow

AUTHORS, STEP_MS, STEPS, POLLED_EVERY = 12, 50, 200, 20
# Seconds without posts at the end.
CALM_S = 20


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

    def __init__(self, time):
        self.time, self.chance = time, random.Random(1)
        self.me, *self.authors = make_accounts(AUTHORS + 1)
        for author in self.authors:
            follow(self.me, author)
        drain_all()
        complete_index(0)
        self.made = [self.publish()]
        kinds = SinceIdClient, UntilNotFull, UntilNotFull
        self.clients = [kind(self.read, limit=40) for kind in kinds]

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
        """Each client polls once a second; the newest page is read all the time."""
        for step in range(STEPS):
            self.made.append(self.publish())
            self.read(Window(40))
            for n, client in enumerate(self.clients):
                if step % POLLED_EVERY == 7 * n:
                    client.poll()
            self.time.pass_ms(STEP_MS)
        for _ in range(CALM_S):
            self.read(Window(40))
            for client in self.clients:
                client.poll()
            self.time.pass_ms(1_000)


def test_in_a_storm_no_post_is_lost_and_polls_are_few(world, each_index, monkeypatch):
    storm = Storm(VirtualTime(monkeypatch))
    storm.run()
    most_requests = 2 * STEPS // POLLED_EVERY + CALM_S
    for client in storm.clients:
        assert set(storm.made) <= client.seen
        assert len(client.got) <= most_requests
