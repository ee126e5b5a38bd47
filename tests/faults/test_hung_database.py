"""A database hangs under a web server: it is stopped, or the network swallows all bytes.

A database hangs under a running worker or compensator. The other changes are delivered.
"""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from signal import SIGCONT, SIGSTOP
from typing import NamedTuple

import pytest
from django.conf import settings

from infra.missing_databases import INCOMPLETE
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from lab.faults.cluster.links import linked
from lab.runner.port import HOST
from relations.actions.follow import follow
from tests.faults.hung_world import (
    HOME,
    SHARDS,
    HungWorld,
    environment_of,
    running_web,
    serving,
    warm_up,
)
from tests.paced_requests import Ask, percentile
from tests.server_faults import pause, resume
from tests.waiting import PATIENCE_S, until
from tests.world import make_accounts

HUNG = "shard1"
HEALTHY = [alias for alias in SHARDS if alias != HUNG]
PER_S, LASTING_S = 40, 2.0
# A page that needs the hung database, before its breaker is open. Then it is answered at once.
FIRST_S = 1.2
AT_ONCE_S = 0.05
RECOVERED_S = 2.0
# What a crowded machine may add. Without limits and breaker each of them is some tens of seconds.
CROWDED_S = 2.0


class Fault(NamedTuple):
    """`environment`: of processes that shall notice it."""

    environment: dict[str, str]
    hang: Callable[[], object]
    heal: Callable[[], object]


@contextmanager
def stopped(services, alias):
    """The processes of the server do not run."""
    server = services.postgres[alias]
    yield Fault(services.environment(), partial(pause, server), partial(resume, server))


@contextmanager
def swallowed(services, alias):
    """No byte arrives, in either direction."""
    environment, url = services.environment(), services.postgres[alias].url
    with linked({alias: url}) as links:
        for name in ("DATABASE_URL", "SHARD_DATABASE_URLS"):
            environment[name] = environment[name].replace(url, links.url(alias, url))
        yield Fault(environment, partial(links.stall, alias), links.reset)


@contextmanager
def hung(fault):
    fault.hang()
    try:
        yield
    finally:
        fault.heal()


def write(world, alias, text="new"):
    """A request that needs the shard of this reader."""
    return Ask("write", world.tokens[alias], "/api/v1/statuses", "POST", {"status": text})


# That a shard is stopped is experiment F9 of `make faults`.
@pytest.mark.parametrize(("kind", "alias"), [(swallowed, HUNG), (stopped, "default")])
def test_warm_pages_go_on_and_others_fail_soon(services, tmp_path, kind, alias):
    world = HungWorld()
    warm, live = world.homes(), Ask("live", "", "/health/live")
    needy = write(world, HUNG)._replace(name="needy")
    with (
        kind(services, alias) as fault,
        running_web(environment_of(fault.environment), tmp_path / "web.log") as clients,
    ):
        warm_up(clients, [*warm, *(write(world, one) for one in SHARDS)])
        idle = clients.paced(warm, PER_S, LASTING_S)
        with hung(fault):
            answers = clients.paced([*warm * 5, live, live, needy, needy], PER_S, LASTING_S)
        began_s = time.monotonic()
        until(lambda: clients.send(needy).status == 200)
        assert time.monotonic() - began_s < RECOVERED_S + CROWDED_S
    needed = [one for one in answers if one.ask is needy]
    others = [one for one in answers if one.ask is not needy]
    assert {one.status for one in others} == {200}
    assert percentile(others, 0.99) < 2 * percentile(idle, 0.99) + CROWDED_S
    if alias == HUNG:
        assert {one.status for one in needed} == {503}
        assert percentile(needed, 1.0) < FIRST_S + CROWDED_S
        assert percentile(needed, 0.5) < AT_ONCE_S + CROWDED_S / 4


def test_a_page_never_omits_a_post_of_the_hung_shard(services, tmp_path):
    world = HungWorld()
    cold = Ask("cold", world.follow_unseen(HEALTHY[0], HUNG), HOME)
    with (
        stopped(services, HUNG) as fault,
        running_web(environment_of(fault.environment), tmp_path / "web.log") as clients,
    ):
        with hung(fault):
            answers = [clients.send(cold) for _ in range(10)]
        assert {one.status for one in answers} == {503}
        assert percentile(answers, 1.0) < FIRST_S + CROWDED_S
        until(lambda: clients.send(cold).status == 200)
        assert len(json.loads(clients.send(cold).content)) == 1


def test_a_search_has_what_the_other_shards_found_and_says_so(services, tmp_path):
    token = HungWorld().tokens[HEALTHY[0]]

    def search(word):
        """The status, the header, and how long it took."""
        began_s, connection = time.monotonic(), http.client.HTTPConnection(HOST, port)
        path = f"/api/v2/search?type=statuses&q={word}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        with connection.getresponse() as answer:
            answer.read()
        connection.close()
        return answer.status, answer.headers.get(INCOMPLETE), time.monotonic() - began_s

    with (
        stopped(services, HUNG) as fault,
        serving(environment_of(fault.environment), tmp_path / "web.log") as port,
    ):
        until(lambda: search("warm")[:2] == (200, None))
        with hung(fault):
            answers = [search(f"word{n}") for n in range(5)]
        until(lambda: search("word0")[:2] == (200, None))
    assert {answer[:2] for answer in answers} == {(200, "true")}
    first_s, *others_s = [took_s for *_, took_s in answers]
    assert first_s < FIRST_S + CROWDED_S
    assert sorted(others_s)[1] < AT_ONCE_S + CROWDED_S / 4


def test_a_write_without_an_answer_has_one_effect_when_it_is_sent_again(services, tmp_path):
    """The server did it. Its answer, or that of the commit, was lost."""
    world = HungWorld()
    ask = write(world, HUNG, "its answer is lost")._replace(key="once")
    url = services.postgres[HUNG].url
    with linked({HUNG: url}) as links:
        environment = services.environment()
        shards = environment["SHARD_DATABASE_URLS"].replace(url, links.url(HUNG, url))
        environment["SHARD_DATABASE_URLS"] = shards
        with running_web(environment_of(environment), tmp_path / "web.log") as clients:
            warm_up(clients, [*world.homes(), write(world, HUNG)])
            before = count_posts(world, HUNG)
            # Not words of the statement: a session that has prepared it does not send them.
            links.open_until(HUNG, "its answer is lost")
            answer = clients.send(ask)
            assert (answer.status, count_posts(world, HUNG)) == (503, before + 1)
            assert answer.took_s < FIRST_S + CROWDED_S
            links.reset()
            until(lambda: clients.send(ask).status == 200)
    assert count_posts(world, HUNG) == before + 1


def count_posts(world, alias):
    sql = "SELECT count(*) FROM posts_post WHERE author_id = %s"
    return fetch_all(alias, sql, (world.readers[alias],))[0][0]


WAITING = "SELECT count(*) FROM changes_change WHERE lane < 64"
BACKWARD = "SELECT follower_id, followee_id FROM relations_backwardedge WHERE attribute = 1"
# The exit codes of a process that was asked to stop.
COMMANDS = {("run_drainer",): 0, ("compensate_changes", "--every", "0.2"): 2}
# It takes three seconds, once, to find that a database hangs. A crowded machine takes longer.
NOTICED_S = 60


@pytest.fixture(params=COMMANDS, ids=lambda command: command[0])
def deliverer(services, request):
    process = subprocess.Popen(
        [sys.executable, "manage.py", *request.param],
        env=environment_of(services.environment()),
        cwd=settings.BASE_DIR,
    )
    yield process
    process.send_signal(SIGCONT)
    process.terminate()
    assert process.wait(PATIENCE_S) == COMMANDS[request.param]


@pytest.fixture
def by_shard(deliverer):
    """Accounts by shard. The process that delivers has connections to all databases."""
    some = make_accounts(24)
    found = {alias: [one for one in some if shard_of(one) == alias] for alias in ALL_SHARDS}
    for alias in ALL_SHARDS:
        for other in ALL_SHARDS:
            follow(found[alias][2], found[other][3])
    until(lambda: not any(map(waiting, ALL_SHARDS)))
    return found


ALL_SHARDS = ["shard0", "shard1", "shard2", "shard3"]


def waiting(alias):
    return fetch_all(alias, WAITING)[0][0]


def test_changes_that_need_the_hung_shard_wait_and_others_do_not(services, deliverer, by_shard):
    """The changes of one owner, so of one lane and batch, need the hung shard or do not."""
    owner, there = by_shard["shard0"][0], by_shard["shard1"][1]
    wanted = {(by_shard["shard0"][1], by_shard[alias][1]) for alias in ("shard2", "shard3")}
    deliverer.send_signal(SIGSTOP)
    follow(owner, there)
    for pair in wanted:
        follow(*pair)
    pause(services.postgres["shard1"])
    try:
        deliverer.send_signal(SIGCONT)
        until(lambda: waiting("shard0") == 1, NOTICED_S)
        assert wanted <= {p for a in ("shard2", "shard3") for p in fetch_all(a, BACKWARD)}
        [(owner_id,)] = fetch_all("shard0", "SELECT owner_id FROM changes_change WHERE lane < 64")
        assert owner_id == owner
        follow(by_shard["shard2"][0], by_shard["shard3"][1])
        until(lambda: not waiting("shard2"), NOTICED_S)
    finally:
        resume(services.postgres["shard1"])
    until(lambda: not waiting("shard0"))


def test_nothing_waits_for_the_default_database(services, deliverer, by_shard):
    pause(services.postgres["default"])
    try:
        for alias in ALL_SHARDS:
            follow(by_shard[alias][0], by_shard["shard1"][1])
        until(lambda: not any(map(waiting, ALL_SHARDS)), NOTICED_S)
    finally:
        resume(services.postgres["default"])
