"""load_graph is killed at any step, next to readers and other loads, and then repeated."""

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from django.db import connections

from accounts.models import User
from accounts.queries.load import load_account_json
from infra.changes.failpoints import arm, disarm
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.demo.errors import AlreadyLoading, GraphNameTaken, UsernameTaken
from operations.demo.load import loading_lock
from tests.lab.demo.communities import (
    Died,
    dying_at,
    everything,
    ids_by_username,
    load,
    random_pairs,
    write_edges,
)
from tests.other_process import environment_of_this_test
from tests.scenarios.graph_input import read_lists
from tests.waiting import PATIENCE_S, until
from tests.world import clean

CHECKOUT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("failpoint", "times"),
    [
        ("demo.users_made", [1]),
        ("demo.account_rows_written", [1, 3]),
        ("demo.shard_written", [1, 3, 4]),
        ("demo.post_published", [1, 60]),
    ],
)
def test_killed_anywhere_and_run_again_it_ends_the_same(world, graph, failpoint, times):
    load(graph, posts=130)
    undisturbed = everything()
    clean()
    for nth in times:
        with dying_at(failpoint, nth), pytest.raises(Died):
            load(graph, posts=130)
    load(graph, posts=130)
    assert everything() == undisturbed


def test_killed_twice_hours_apart_no_post_is_published_again(world, graph):
    """create_post knows an Idempotency-Key for an hour, and then forgets it at the next post."""
    load(graph, posts=130)
    undisturbed = everything()
    clean()
    for nth in (60, 10, 110):
        with dying_at("demo.post_published", nth), pytest.raises(Died):
            load(graph, posts=300)
        for alias in all_aliases()[1:]:
            execute(alias, "UPDATE posts_publishedkey SET created_at = created_at - interval '2 h'")
    load(graph, posts=180)
    posts = everything()["posts"]
    assert len(posts) == 180
    assert not Counter(undisturbed["posts"]) - Counter(posts)


@pytest.mark.slow
def test_killed_for_real_it_goes_on(world, tmp_path):
    path = write_edges(tmp_path / "city.edges", random_pairs(3_000, 9_000))
    kill_load(path, "SELECT 1 FROM accounts_account LIMIT 1")
    kill_load(path, "SELECT 1 FROM posts_post LIMIT 1")
    load(path, posts=250)
    rows = everything()
    lists = read_lists(path)
    assert len(rows["users"]) == len(rows["accounts"]) == 3_000
    assert rows["forward"] == rows["backward"]
    assert len(rows["forward"]) == sum(map(len, lists.values()))
    assert len(rows["posts"]) == 250


def kill_load(path: Path, sign: str) -> None:
    """Runs the command in a process and kills it as soon as the query has an answer somewhere."""
    command = [sys.executable, "-m", "lab.graph", str(path), "--posts", "250"]
    environment = environment_of_this_test()
    process = subprocess.Popen(
        command, env=environment, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: any(fetch_one(alias, sign) for alias in all_aliases()[1:]))
        assert process.poll() is None, "it ended before it could be killed"
    finally:
        process.kill()
        process.wait()


def test_what_was_asked_too_early_is_not_remembered(world, graph):
    """A reader looks an account up when its user exists and its row does not."""
    early = []

    def look() -> None:
        early.append(load_account_json(ids_by_username().values()))

    arm("demo.users_made", look)
    try:
        load(graph)
    finally:
        disarm("demo.users_made")
    assert early == [{}]
    assert len(load_account_json(ids_by_username().values())) == 60


def test_a_death_between_the_rows_and_the_cache_is_mended(world, graph):
    def look_and_die() -> None:
        load_account_json(ids_by_username().values())
        raise Died

    arm("demo.users_made", lambda: load_account_json(ids_by_username().values()))
    arm("demo.shard_written", look_and_die)
    try:
        with pytest.raises(Died):
            load(graph)
    finally:
        disarm("demo.users_made")
        disarm("demo.shard_written")
    load(graph)
    assert len(load_account_json(ids_by_username().values())) == 60


def test_a_name_belongs_to_one_graph_also_when_its_load_was_killed_at_once(world, graph, tmp_path):
    with dying_at("demo.users_made", 1), pytest.raises(Died):
        load(graph)
    with pytest.raises(GraphNameTaken):
        load(write_edges(tmp_path / "town.more", [(0, 1)]))


def test_somebody_elses_account_is_never_taken_over(world, graph):
    with dying_at("demo.shard_written", 1), pytest.raises(Died):
        load(graph)
    username = next(iter(ids_by_username()))
    clean()
    User.objects.create(username=username, email="somebody@example.org", password="!")
    with pytest.raises(UsernameTaken, match=username):
        load(graph)
    assert fetch_all("shard0", "SELECT 1 FROM accounts_account") == []


def test_one_load_at_a_time(world, graph):
    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with loading_lock("town"):
            is_held.set()
            may_end.wait(PATIENCE_S)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_held.wait(PATIENCE_S)
    try:
        with pytest.raises(AlreadyLoading):
            load(graph)
        load(graph, name="other")
    finally:
        may_end.set()
        holder.join()
    load(graph)


def test_a_password_comes_last(world, graph):
    """No person can use an incomplete account: its owner's reads would be cached."""
    with dying_at("demo.shard_written", 4), pytest.raises(Died):
        load(graph, password="secret")
    assert not any(user.has_usable_password() for user in User.objects.all())
