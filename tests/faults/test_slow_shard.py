"""One shard answers late, or not at all: the other shards' accounts act as usual, and see it.

No answer to a write waits for another shard, and the account sees its act at its next read, through
another process too. The worker delivers when the shard answers.
"""

import json
import sys
from contextlib import ExitStack

import pytest

from lab.faults.cluster.links import linked
from lab.runner.child import Child
from tests.faults.hung_world import HungWorld, environment_of, serving
from tests.paced_requests import Ask, Clients, percentile
from tests.truth import assert_drained_truth
from tests.waiting import until
from tests.world import drain_all

SLOW, ACTOR = "shard1", "shard0"
# A round trip takes twice as long.
DELAY_S = 0.15
# What a crowded machine may add.
CROWDED_S = 0.2


@pytest.fixture
def town(services, tmp_path):
    """Two web servers and a worker, all behind one link to the slow shard."""
    world, url = HungWorld(), services.postgres[SLOW].url
    with ExitStack() as stack:
        links = stack.enter_context(linked({SLOW: url}))
        environment = services.environment()
        shards = environment["SHARD_DATABASE_URLS"].replace(url, links.url(SLOW, url))
        environment = environment_of(environment | {"SHARD_DATABASE_URLS": shards})
        webs = [
            stack.enter_context(
                Clients(stack.enter_context(serving(environment, tmp_path / f"web{n}.log")))
            )
            for n in range(2)
        ]
        command = [sys.executable, "manage.py", "run_drainer"]
        worker = Child("worker", command, tmp_path / "worker.log", environment)
        worker.begin()
        stack.callback(worker.stop)
        yield Town(world, links, webs)


class Town:
    """One account that acts in one process and reads in another, and one of the slow shard."""

    def __init__(self, world, links, webs):
        self.links, self.webs, self.world = links, webs, world
        self.target, self.token = world.unseen[SLOW], world.tokens[ACTOR]
        self.account = f"/api/v1/accounts/{self.target}"
        (status,) = self.see(f"{self.account}/statuses")
        self.status = f"/api/v1/statuses/{status['id']}"
        self.acted = []
        for _ in webs * 2:
            self.look()
            self.webs.reverse()

    def act(self, path):
        self.acted.append(self.webs[0].send(Ask("act", self.token, path, "POST", {})))
        assert self.acted[-1].status == 200, self.acted[-1]
        return json.loads(self.acted[-1].content)

    def see(self, path):
        answer = self.webs[1].send(Ask("see", self.token, path))
        assert answer.status == 200, answer
        return json.loads(answer.content)

    def look(self):
        """What the account sees: is it a follower, by the count, the list and the relationship; and
        has it favourited the post."""
        (related,) = self.see(f"/api/v1/accounts/relationships?id={self.target}")
        listed = self.see(f"{self.account}/followers")
        status = self.see(self.status)
        return (
            (self.see(self.account)["followers_count"], len(listed), related["following"]),
            (status["favourites_count"], status["favourited"]),
        )

    def turn(self):
        """Acts, and acts back. Sees each act at the next read."""
        for path, followers in (("follow", 1), ("unfollow", 0)):
            self.act(f"{self.account}/{path}")
            assert self.look()[0] == (followers, followers, bool(followers))
        for path, favourites in (("favourite", 1), ("unfavourite", 0)):
            assert self.act(f"{self.status}/{path}")["favourites_count"] == favourites
            assert self.look()[1] == (favourites, bool(favourites))


def test_own_acts_are_seen_while_the_other_shard_is_slow(town):
    town.turn()
    town.acted.clear()
    town.links.open(SLOW, delay_s=DELAY_S)
    for _ in range(5):
        town.turn()
    assert percentile(town.acted, 0.5) < DELAY_S
    finish(town)


def test_own_acts_are_seen_while_the_other_shard_does_not_answer(town):
    town.turn()
    town.acted.clear()
    town.links.stall(SLOW)
    for _ in range(2):
        town.turn()
    assert percentile(town.acted, 1.0) < DELAY_S + CROWDED_S
    town.links.reset()
    finish(town)


def finish(town):
    """The last act of all is delivered."""
    town.links.open(SLOW)
    town.act(f"{town.account}/follow")
    stranger = Ask("stranger", town.world.tokens["shard2"], town.account)
    until(lambda: json.loads(town.webs[0].send(stranger).content)["followers_count"] == 1)
    drain_all()
    assert_drained_truth()
