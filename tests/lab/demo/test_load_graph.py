"""load_graph writes the same rows as real follows would."""

import time
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.core.management import CommandError, call_command

from accounts.models import User
from accounts.queries.load import load_account_json
from infra.api.pages import Window
from infra.changes.lag import list_lane_lags
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.shards import all_aliases
from infra.sharding.sql import fetch_all
from lab.graph.command import LoadGraph
from operations.demo.errors import GraphNameTaken
from posts.ids import PostId
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from tests.lab.demo.communities import (
    everything,
    id_by_node,
    ids_by_username,
    load,
    write_edges,
)
from tests.oracle import Oracle
from tests.scenarios.graph_input import FIRST_FOLLOW_MS, MINUTE_MS, read_lists
from timelines.home.page import home_page

ALL = Window(limit=1_000)


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
    assert sum(lag.pending for alias in all_aliases() for lag in list_lane_lags(alias)) == 0


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


def test_sign_in_needs_a_given_password(world, graph):
    load(graph)
    assert not any(user.has_usable_password() for user in User.objects.all())
    User.objects.filter(pk=max(ids_by_username().values())).update(password=make_password("own"))
    load(graph, password="secret of all")
    *others, own = User.objects.order_by("pk")
    assert check_password("secret of all", others[0].password)
    assert {user.password for user in others} == {others[0].password}
    assert check_password("own", own.password)


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
        call_command(LoadGraph(), str(graph), *words)
    assert ids_by_username() == {}
