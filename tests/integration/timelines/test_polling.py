"""A client that polls receives every post, also one that arrives below its cursor."""

import random
import time

import pytest

from infra.changes.compensate import drain
from infra.changes.lag import list_lane_lags
from infra.sharding.shards import all_aliases
from relations.actions.follow import follow
from tests.integration.timelines.polling_clients import CLIENTS
from tests.world import drain_all, make_accounts, publish
from timelines.home.page import home_page

AUTHORS, SECONDS, POSTS_A_SECOND = 24, 3.0, 40
# With posts of so much later, each client gets what others with its token got: some on each page.
LATER_S = 3


def reader_of(me, client="one"):
    return lambda window: home_page(me, window, client=client)


@pytest.fixture
def people(world):
    """A reader and the authors that the reader follows."""
    me, *authors = make_accounts(AUTHORS + 1)
    for author in authors:
        follow(me, author)
    drain_all()
    return me, authors


def drain_some_lane(chance):
    """As with a worker, whose lanes deliver one after the other."""
    lags = [lag for alias in all_aliases() for lag in list_lane_lags(alias) if lag.pending]
    for lag in chance.sample(lags, min(len(lags), 2)):
        drain(lag.alias, lag.lane)


def test_nothing_is_lost_while_lanes_deliver_out_of_order(people):
    """Some clients have each their own token, others all the same."""
    me, authors = people
    chance, made = random.Random(5), [publish(authors[0])]
    drain_all()
    clients = [
        (interval, kind(reader_of(me, token or f"{name}-{interval}")))
        for token, intervals in (("", (0.1, 0.5, 1.2)), ("same", (0.4, 1.0, 1.5)))
        for name, kind in CLIENTS.items()
        for interval in intervals
    ]
    start, polled = time.monotonic(), [0.0] * len(clients)
    while (now := time.monotonic() - start) < SECONDS:
        if len(made) < now * POSTS_A_SECOND:
            made.append(publish(chance.choice(authors)))
        drain_some_lane(chance)
        for n, (interval, client) in enumerate(clients):
            if now - polled[n] >= interval:
                client.poll()
                polled[n] = now
    drain_all()
    for later_s in range(LATER_S, 13 * LATER_S, LATER_S):
        publish(authors[0], clock_s=lambda: time.time() + later_s)  # noqa: B023
        drain_all()
        for _, client in clients:
            client.poll_to_end()
    missed = [len(set(made) - client.seen) for _, client in clients]
    assert missed == [0] * len(clients)
