"""load_graph: what it lays is what following would have made, however often it is killed."""

import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.core.management import CommandError, call_command
from django.db import connections

from accounts.models import User
from accounts.queries.load import load_account_json
from demo.errors import AlreadyLoading, GraphNameTaken, UsernameTaken
from demo.turns import alone
from infra.api.pages import Window
from infra.changes.failpoints import arm, disarm
from infra.changes.lag import lag_of
from infra.sharding.placement import GLOBAL_ALIAS, all_aliases
from infra.sharding.sql import execute, fetch_all, fetch_one
from posts.ids import PostId
from relations.actions.follow import follow, unfollow
from relations.queries.lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from tests.integration.demo.communities import (
    Died,
    dying_at,
    environment_of_this_world,
    everything,
    id_by_node,
    ids_by_username,
    load,
    random_pairs,
    write_edges,
)
from tests.oracle import Oracle
from tests.scenarios.graph_input import FIRST_FOLLOW_MS, MINUTE_MS, read_lists
from tests.waiting import until
from tests.world import clean
from timelines.queries.home import home_page

CHECKOUT = Path(__file__).parents[3]
ALL = Window(limit=1_000)


@pytest.fixture
def graph(tmp_path) -> Path:
    return write_edges(tmp_path / "town.edges", random_pairs(60, 400))


def oracle_of(path: Path, ids: dict[int, int]) -> Oracle:
    oracle = Oracle()
    for follower, followees in read_lists(path).items():
        for position, followee in enumerate(followees):
            since_ms = FIRST_FOLLOW_MS + position * MINUTE_MS + follower % MINUTE_MS
            oracle.follow(ids[follower], ids[followee], since_ms)
    for alias in all_aliases()[1:]:
        for author, moment in fetch_all(alias, "SELECT author_id, moment FROM posts_post"):
            oracle.publish(author, PostId.at(author, moment).public)
    return oracle


def assert_as_the_oracle_says(path: Path, ids: dict[int, int]) -> None:
    oracle = oracle_of(path, ids)
    for account_id in ids.values():
        following = [i.account_id for i in list_page(FOLLOWING_LIST, account_id, ALL).items]
        followers = [i.account_id for i in list_page(FOLLOWERS_LIST, account_id, ALL).items]
        home = [orjson.loads(body)["id"] for body in home_page(account_id, ALL).items]
        assert following == oracle.following(account_id)
        assert followers == oracle.followers(account_id)
        assert home == oracle.home(account_id)
        shown = orjson.loads(load_account_json([account_id])[account_id])
        counts = (shown["followers_count"], shown["following_count"], shown["statuses_count"])
        assert counts == oracle.counts(account_id)


def test_every_list_count_and_home_is_as_if_everybody_had_followed(world, graph):
    load(graph, posts=150, drain=True)
    ids = id_by_node("town")
    assert len(ids) == 60
    assert_as_the_oracle_says(graph, ids)
    assert sum(lag.pending for alias in all_aliases() for lag in lag_of(alias)) == 0


def test_both_sides_of_every_edge_agree_and_counts_are_versioned(world, graph):
    load(graph)
    rows = everything()
    assert rows["forward"] == rows["backward"]
    assert len(rows["forward"]) == sum(map(len, read_lists(graph).values()))
    assert all(value == version > 0 for *_, value, version in rows["counters"])


def test_loading_again_changes_nothing(world, graph):
    load(graph, posts=30)
    before, ids = everything(), ids_by_username()
    load(graph, posts=30)
    assert everything() == before
    assert ids_by_username() == ids
    load(graph, posts=31)
    assert len(everything()["posts"]) == 31
    load(graph, posts=10, seed=2)
    assert len(everything()["posts"]) == 41


@pytest.mark.parametrize(
    ("failpoint", "times"),
    [
        ("demo.users_made", [1]),
        ("demo.account_rows_laid", [1, 3]),
        ("demo.shard_laid", [1, 3, 4]),
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
    command = [sys.executable, "manage.py", "load_graph", str(path), "--posts", "250"]
    environment = environment_of_this_world()
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
    """Somebody looks an account up while its user is made, its row not yet laid."""
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
    arm("demo.shard_laid", look_and_die)
    try:
        with pytest.raises(Died):
            load(graph)
    finally:
        disarm("demo.users_made")
        disarm("demo.shard_laid")
    load(graph)
    assert len(load_account_json(ids_by_username().values())) == 60


def test_loaded_accounts_go_on_living(world, drain, graph):
    """Versions start where the counts are: lists in the caches are changed in place, and right."""
    load(graph)
    ids = id_by_node("town")
    assert_as_the_oracle_says(graph, ids)  # and so everything is cached
    lists = read_lists(graph)
    oracle = oracle_of(graph, ids)
    stranger = next(n for n in ids if n != 0 and n not in lists[0])
    assert follow(ids[0], ids[stranger], clock_ms=lambda: 1_900_000_000_000)
    assert unfollow(ids[0], ids[lists[0][0]])
    oracle.follow(ids[0], ids[stranger], 1_900_000_000_000)
    oracle.unfollow(ids[0], ids[lists[0][0]])
    drain()
    for account_id in (ids[0], ids[stranger], ids[lists[0][0]]):
        following = [i.account_id for i in list_page(FOLLOWING_LIST, account_id, ALL).items]
        followers = [i.account_id for i in list_page(FOLLOWERS_LIST, account_id, ALL).items]
        assert following == oracle.following(account_id)
        assert followers == oracle.followers(account_id)
        shown = orjson.loads(load_account_json([account_id])[account_id])
        assert (shown["followers_count"], shown["following_count"]) == oracle.counts(account_id)[:2]


def test_graphs_lie_side_by_side(world, graph, tmp_path):
    other = write_edges(tmp_path / "village", [(0, 1), (1, 2)])
    load(graph)
    load(other)
    load(graph, name="town2")
    assert [len(id_by_node(name)) for name in ("town", "village", "town2")] == [60, 3, 60]
    assert_as_the_oracle_says(other, id_by_node("village"))
    assert_as_the_oracle_says(graph, id_by_node("town2"))


def test_a_name_belongs_to_one_graph(world, graph, tmp_path):
    load(graph)
    before = everything()
    other = write_edges(tmp_path / "town.more", [(0, 1)])
    with pytest.raises(GraphNameTaken, match="--name"):
        load(other)
    with pytest.raises(GraphNameTaken):
        load(graph, limit=10)
    assert everything() == before


def test_a_name_belongs_to_one_graph_also_when_its_load_was_killed_at_once(world, graph, tmp_path):
    with dying_at("demo.users_made", 1), pytest.raises(Died):
        load(graph)
    with pytest.raises(GraphNameTaken):
        load(write_edges(tmp_path / "town.more", [(0, 1)]))


def test_somebody_elses_account_is_never_taken_over(world, graph):
    with dying_at("demo.shard_laid", 1), pytest.raises(Died):
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
        with alone("town"):
            is_held.set()
            may_end.wait(10)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_held.wait(10)
    try:
        with pytest.raises(AlreadyLoading):
            load(graph)
        load(graph, name="other")
    finally:
        may_end.set()
        holder.join()
    load(graph)


def test_nobody_can_log_in_unless_a_password_is_given(world, graph):
    load(graph)
    assert not any(user.has_usable_password() for user in User.objects.all())
    User.objects.filter(pk=max(ids_by_username().values())).update(password=make_password("own"))
    load(graph, password="secret of all")
    *others, own = User.objects.order_by("pk")
    assert check_password("secret of all", others[0].password)
    assert {user.password for user in others} == {others[0].password}
    assert check_password("own", own.password)


def test_a_password_comes_last(world, graph):
    """An account that is not whole is nobody's: what its owner read would be cached."""
    with dying_at("demo.shard_laid", 4), pytest.raises(Died):
        load(graph, password="secret")
    assert not any(user.has_usable_password() for user in User.objects.all())


def test_posts_carry_the_time_of_publishing(world, graph):
    started_s = int(time.time())
    load(graph, posts=20)
    seconds = [
        PostId.at(0, row[0]).posted_at_s
        for alias in all_aliases()[1:]
        for row in fetch_all(alias, "SELECT moment FROM posts_post")
    ]
    assert started_s <= min(seconds) <= max(seconds) <= time.time()


def test_accounts_are_dated_before_everything_they_do(world, graph):
    load(graph)
    joined = fetch_all(GLOBAL_ALIAS, "SELECT DISTINCT date_joined FROM accounts_user")
    assert joined == [(datetime(2026, 1, 1, tzinfo=UTC),)]


@pytest.mark.parametrize(
    "words",
    [["--limit", "0"], ["--posts", "-1"], ["--limit", "x"], ["--name", "Ö"], ["--format", "csv"]],
)
def test_bad_options_are_refused(world, graph, words):
    with pytest.raises(CommandError):
        call_command("load_graph", str(graph), *words)
    assert ids_by_username() == {}
