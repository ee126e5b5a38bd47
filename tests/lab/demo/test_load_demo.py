"""load_demo and demo_token: what `make run` calls on every start."""

import io
import time
from datetime import datetime
from unittest.mock import patch

import orjson
import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.core.management import call_command
from django.test import Client

from accounts.models import AccessToken, Application, User
from accounts.queries.viewers import find_viewer
from accounts.site_texts.models import SiteRule
from counters.kinds import DECLARED
from infra.api.pages import Window
from infra.sharding.shards import all_aliases, shard_aliases
from infra.sharding.sql import fetch_all
from moderation.models import Report
from operations.demo.community import FIRST_ACCOUNTS, PASSWORD, POSTS
from operations.demo.errors import DevelopmentOnly, NoSuchAccount
from operations.demo.graphs import read_graph
from operations.demo.names import naming_of
from operations.demo.pictures import PEOPLE, draw_portrait
from operations.demo.publish import PostPlan, publish_posts
from operations.demo.scenes import read_scenes
from operations.demo.types import Community
from posts.ids import EPOCH, PostId
from posts.scheduled.queries.scheduled import list_scheduled
from relations.lists.queries.lists import get_list_members, list_account_lists
from tests.budgets import count_calls
from tests.callers import Caller
from tests.lab.demo.communities import (
    Died,
    dying_at,
    everything,
    id_by_node,
    ids_by_username,
    load,
    random_pairs,
    write_edges,
)
from tests.world import make_account
from timelines.home.page import home_page
from timelines.promotions.models import Campaign
from timelines.trends.cache import find_trends

ANSWERS = "SELECT author_id, moment, target_author, target_moment FROM posts_post WHERE kind = 1"
CLAPS = "SELECT responder_id FROM posts_response WHERE kind = %s AND is_on"
PICTURES = "SELECT avatar, header FROM accounts_account WHERE id = ANY(%s)"
# With the scenes, and reposts of them.
ALL_POSTS = POSTS.total + sum(1 + scene.reposts for scene in read_scenes())


@pytest.fixture(autouse=True)
def store_of_files(settings, tmp_path):
    settings.MEDIA_DIR = str(tmp_path)
    backend = "django.core.files.storage.FileSystemStorage"
    files = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": files}


def said_by(command: str, *words: str) -> list[str]:
    output = io.StringIO()
    call_command(command, *words, stdout=output)
    return output.getvalue().split()


def test_it_makes_interesting_homes_in_no_time_and_then_nothing_more(world):
    began_s = time.time()
    with (
        count_calls() as calls,
        patch("operations.demo.load.make_password", side_effect=make_password) as hashed,
    ):
        call_command("load_demo")
    # What takes its two seconds; as many again would not yet spoil `make run`.
    assert hashed.call_count == 1, "half a second each, on purpose"
    assert calls.sql.total() < 20 * POSTS.total
    assert calls.round_trips < 8 * POSTS.total
    for username, account_id in ids_by_username().items():
        if username in FIRST_ACCOUNTS:
            assert check_password(PASSWORD, User.objects.get(username=username).password)
            assert_lively(account_id, began_s - POSTS.spread_s - POSTS.end_s)
    before = everything()
    with count_calls() as calls:
        call_command("load_demo")
    assert (calls.sql.total(), calls.round_trips) == (3, 0)
    assert everything() == before
    assert len(before["posts"]) == ALL_POSTS
    assert (Report.objects.count(), Campaign.objects.count()) == (1, 1)
    assert_pictures(list(ids_by_username().values()))
    assert SiteRule.objects.count() == 3
    ann = ids_by_username()["ann"]
    [friends] = list_account_lists(ann)
    assert len(get_list_members(ann, friends.list_id).account_ids) == 8
    assert len(list_scheduled(ann, Window(10)).items) == 1
    rows = [row for alias in shard_aliases() for row in fetch_all(alias, CLAPS, (DECLARED.start,))]
    assert len(rows) == sum(scene.claps for scene in read_scenes()) > 10
    assert_new_people_see_the_site_at_its_best()
    trends = find_trends()
    assert trends.tags[0] == "walks"
    assert len(trends.posts) > 3


def assert_pictures(account_ids: list[int]) -> None:
    rows = [row for alias in shard_aliases() for row in fetch_all(alias, PICTURES, (account_ids,))]
    assert sum(bool(avatar) for avatar, _ in rows) == PEOPLE
    assert sum(bool(header) for _, header in rows) == len(FIRST_ACCOUNTS)


def test_killed_between_two_pictures_it_gives_each_person_one(world):
    with (
        patch("operations.demo.pictures.save_checkpoint", side_effect=[None] * 5 + [Died]),
        pytest.raises(Died),
    ):
        call_command("load_demo")
    call_command("load_demo")
    assert_pictures(list(ids_by_username().values()))


def test_faces_differ_and_stay_the_same():
    faces = [draw_portrait(number) for number in range(10)]
    assert len(set(faces)) == 10
    assert faces[3] == draw_portrait(3)


def assert_lively(account_id: int, since_s: float) -> None:
    """A home with many posts by many people over several days."""
    home = [orjson.loads(body) for body in home_page(account_id, Window(1_000)).items]
    stamps = [datetime.fromisoformat(status["created_at"]) for status in home]
    assert stamps == sorted(stamps, reverse=True)
    assert since_s - 1 <= stamps[-1].timestamp() <= stamps[0].timestamp() <= time.time()
    assert len({stamp.date() for stamp in stamps}) >= 4
    assert len(home) > 80
    assert len({status["account"]["id"] for status in home}) > 30


def test_killed_it_goes_on(world):
    with dying_at("demo.post_published", 150), pytest.raises(Died):
        call_command("load_demo")
    call_command("load_demo")
    rows = everything()
    assert len(rows["posts"]) == ALL_POSTS
    assert len(rows["accounts"]) == 400


def test_killed_in_a_scene_it_goes_on_with_the_same_post(world):
    left = iter([False] * 10 + [True])

    def die(*args):
        if next(left, False):
            raise Died

    with patch("operations.demo.perform.mark_post", side_effect=die), pytest.raises(Died):
        call_command("load_demo")
    call_command("load_demo")
    assert len(everything()["posts"]) == ALL_POSTS


def test_killed_and_run_again_next_week_it_is_dated_as_it_was_begun(world, tmp_path):
    path = write_edges(tmp_path / "town.edges", random_pairs(5, 0))
    load(path)
    community = Community(read_graph(path, None, 2_000, None), naming_of("town"))
    plan = PostPlan(total=120, seed=2, spread_s=120 * 60)
    began_s = EPOCH + 1_000_000
    with dying_at("demo.post_published", 110), pytest.raises(Died):
        list(publish_posts(community, id_by_node("town"), plan, lambda: began_s))
    list(publish_posts(community, id_by_node("town"), plan, lambda: began_s + 7 * 86_400))
    assert post_times() == [began_s - minutes * 60 for minutes in range(120, 0, -1)]


def post_times() -> list[int]:
    rows = [
        row
        for alias in all_aliases()[1:]
        for row in fetch_all(alias, "SELECT author_id, moment FROM posts_post")
    ]
    return sorted(PostId.at(*row).posted_at_s for row in rows)


def test_tokens_speak_for_their_accounts(world):
    ids = {username: make_account(username) for username in FIRST_ACCOUNTS}
    (token,) = said_by("demo_token")
    viewer = find_viewer(token)
    assert viewer is not None
    assert viewer.account_id == ids["ann"]
    assert {"read:statuses", "write:statuses", "write:follows", "push"} <= viewer.scopes
    tokens = said_by("demo_token", "bob", "cyd")
    assert [find_viewer(t).account_id for t in tokens] == [ids["bob"], ids["cyd"]]
    assert find_viewer(token) == viewer
    assert Application.objects.count() == 1


def test_token_of_an_unknown_account_is_refused(world):
    with pytest.raises(NoSuchAccount, match="@nobody"):
        call_command("demo_token", "nobody")
    assert AccessToken.objects.count() == 0


@pytest.mark.parametrize("command", ["load_demo", "demo_token"])
def test_known_passwords_are_for_development(world, settings, command):
    settings.DEVELOPMENT = False
    with pytest.raises(DevelopmentOnly, match="DEVELOPMENT=1"):
        call_command(command)
    assert ids_by_username() == {}


def assert_new_people_see_the_site_at_its_best() -> None:
    """A contact; no answer is older than its post; no person is advised to follow a spammer."""
    contact = Client().get("/api/v2/instance").json()["contact"]["account"]
    assert contact["username"] == FIRST_ACCOUNTS[0]
    answers = [row for alias in shard_aliases() for row in fetch_all(alias, ANSWERS, ())]
    assert answers
    assert all(PostId.at(*row[:2]).second >= PostId.at(*row[2:]).second for row in answers)
    [spammer] = Report.objects.values_list("account_id", flat=True)
    newcomer = Caller(make_account())
    assert newcomer.get(f"/api/v1/accounts/{spammer}").json()["discoverable"] is False
    newest = newcomer.get("/api/v1/timelines/public?limit=8").json()
    assert str(spammer) not in {post["account"]["id"] for post in newest}
