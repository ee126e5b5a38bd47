"""One shard answers late, or not at all: the other shards' accounts act as usual, and see it.

No answer to a write waits for another shard, and the account sees its act at its next read, through
another process too. The worker delivers when the shard answers.

A shard hangs: each command works on the other databases, names the shard and ends with 1.
"""

import json
import subprocess
import sys
from contextlib import ExitStack

import pytest
from django.conf import settings

from infra.jobs.flags import JobFlag
from infra.jobs.models import JobRun
from lab.faults.cluster.links import linked
from lab.runner.child import Child
from tests.faults.hung_world import HungWorld, environment_of, serving
from tests.integration.config.commands import WORDS, list_commands, list_jobs
from tests.integration.jobs.outcomes import Outcome
from tests.paced_requests import Ask, Clients, percentile
from tests.server_faults import hanging
from tests.truth import assert_drained_truth
from tests.waiting import until
from tests.world import drain_all, make_accounts, publish

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


HUNG = "shard1"
# They need all shards together.
TOGETHER = {"backfill recent-posts", "audit recent-posts", "shards reconcile"}
JOBS = [
    found for found in list_jobs() if JobFlag.SHARD in found.flags and found.name not in TOGETHER
]


@pytest.fixture
def hung(services):
    """Accounts on all shards, with rows for each job. No edge crosses shards."""
    for person in make_accounts(8):
        publish(person)
    drain_all()
    with hanging(services.postgres[HUNG]):
        yield


def test_each_job_leaves_it_out_and_goes_on(hung):
    outcomes = {}
    for found in JOBS:
        outcome = Outcome(found.make(), *found.words, "--json")
        left_out = [*json.loads(outcome.out)["left_out"]]
        said = outcome.job.stderr._out.getvalue()
        is_said = f"run {found.name} again with --shard {HUNG}." in said
        outcomes[found.name] = (outcome.code, left_out, is_said)
    expected = (1, [HUNG], True)
    assert {name: one for name, one in outcomes.items() if one != expected} == {}
    assert {run.state for run in JobRun.objects.all()} == {JobRun.State.FAILED}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shards check", f"{HUNG}: unreachable: "),
        ("migrate_shards", f"{HUNG} was left out: "),
        ("changes lag", f"{HUNG}: unreachable: "),
        ("changes parked", f"{HUNG}: unreachable: "),
        ("shards show", f"{HUNG}: unreachable: "),
    ],
)
def test_other_commands_show_the_others(hung, name, said):
    [found] = [one for one in list_commands() if one.name == name]
    outcome = Outcome(found.make())
    everything = outcome.out + outcome.job.stderr._out.getvalue()
    assert (outcome.code, said in everything) == (1, True), everything
    if name != "changes parked":
        assert "\nshard3" in outcome.out


@pytest.mark.parametrize(
    ("alias", "words"),
    [
        ("default", ["audit", "counters"]),
        ("default", ["migrate_shards"]),
        (
            "default",
            ["accounts", "create", "ann", "--email", "a@b.example", "--password", "Tide 4 all"],
        ),
        *((HUNG, [*name.split(), *WORDS.get(name, ())]) for name in sorted(TOGETHER)),
    ],
)
def test_command_that_cannot_do_without_it_ends_in_one_line(services, alias, words):
    with hanging(services.postgres[alias]):
        ended = subprocess.run(
            [sys.executable, "manage.py", *words],
            env=environment_of(services.environment()),
            cwd=settings.BASE_DIR,
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 1
    said = ended.stderr.splitlines()[-1]
    assert alias in said or "timeout expired" in said
    assert "Traceback" not in ended.stderr
