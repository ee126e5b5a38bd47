"""The timeline of followed tags, and posts with followed tags at home."""

import random
import time
from collections.abc import Callable

import pytest
from django.conf import settings

from accounts.types import Restriction
from infra.caching.client import redis
from infra.changes import failpoints
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.queries.rows import read_posts
from posts.types import Draft, Visibility
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.jobs.lost_rows import at_rest
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.homes import (
    at,
    first_page,
    newest_first,
    read_from_bottom,
    read_to_end,
)
from tests.world import drain_all, make_account, make_accounts, publish, restrict
from timelines.tags import entries as entries_module
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home, remove_own_tag
from timelines.tags.entries import load_tag_entries, tag_entries_store
from timelines.tags.types import TagListKind, tag_id_of
from timelines.verbs import AuditTags

__all__ = ["at_rest"]
SETTINGS, TIMELINE = "/api/v1/followed_tags/settings", "/api/v1/timelines/followed_tags"
Drain = Callable[[], int]


@pytest.fixture
def stranger(ann: int) -> int:
    """Not followed by ann, who has #tea at home."""
    choose_at_home(ann, True)
    add_own_tag(ann, TagListKind.FOLLOWED, "Tea")
    return make_account("bob")


def follow_tag(caller: Caller, name: str) -> None:
    assert caller.post(f"/api/v1/tags/{name}/follow").status_code == 200


def shown(caller: Caller, path: str = TIMELINE, **query: object) -> list[str]:
    answer = caller.get(path, query)
    assert answer.status_code == 200, answer.content
    return [status["id"] for status in answer.json()]


def test_timeline_has_the_posts_of_all_followed_tags(as_ann, ann, drain):
    assert shown(as_ann) == []
    stranger, cyd = make_accounts(2)
    posts = [
        publish(author, text, clock_s=at(n))
        for n, (author, text) in enumerate(
            [(stranger, "#tea"), (cyd, "#Milk"), (stranger, "#tea #milk")]
        )
    ]
    publish(stranger, "#coffee")
    create_post(stranger, Draft("#tea", visibility=Visibility.UNLISTED))
    drain()
    for name in ("Tea", "milk"):
        follow_tag(as_ann, name)
    assert shown(as_ann) == newest_first(*posts)
    assert shown(as_ann, limit=1, max_id=posts[2].public) == [posts[1].public]
    assert shown(as_ann, limit=1, min_id=posts[0].public) == [posts[1].public]
    mute(ann, cyd)
    assert shown(as_ann) == newest_first(posts[0], posts[2])
    as_ann.post("/api/v1/tags/tea/unfollow")
    assert shown(as_ann) == newest_first(posts[2])


def test_timeline_of_many_tags_costs_a_query_on_each_shard(as_ann, ann, drain):
    for n in range(200):
        add_own_tag(ann, TagListKind.FOLLOWED, f"tag{n}")
    publish(make_account("bob"), "#tag7")
    drain()
    shown(as_ann)
    with count_calls() as calls:
        assert len(shown(as_ann)) == 1
    assert len(calls.statements) <= 1 + len(settings.SHARD_ALIASES)


def test_choice_is_off_until_it_is_made(as_ann):
    assert as_ann.get(SETTINGS).json() == {"home": False}
    assert (
        as_ann.put(SETTINGS, {"home": True}).json() == as_ann.get(SETTINGS).json() == {"home": True}
    )
    assert (
        as_ann.put(SETTINGS, {"home": False}).json()
        == as_ann.get(SETTINGS).json()
        == {"home": False}
    )
    for body in ({}, {"home": "perhaps"}):
        assert as_ann.put(SETTINGS, body).status_code == 422


def test_home_shows_them_from_the_choice_on(as_ann, ann, drain):
    stranger = make_account("bob")
    old = publish(stranger, "#tea", clock_s=at(1))
    drain()
    assert shown(as_ann, "/api/v1/timelines/home") == []
    follow_tag(as_ann, "tea")
    assert shown(as_ann, "/api/v1/timelines/home") == []
    as_ann.put(SETTINGS, {"home": True})
    assert shown(as_ann, "/api/v1/timelines/home") == [old.public]
    new = publish(stranger, "#tea", clock_s=at(2))
    drain()
    assert shown(as_ann, "/api/v1/timelines/home") == newest_first(old, new)
    follow_tag(as_ann, "milk")
    as_ann.post("/api/v1/tags/tea/unfollow")
    assert shown(as_ann, "/api/v1/timelines/home") == []
    follow_tag(as_ann, "tea")
    as_ann.put(SETTINGS, {"home": False})
    assert shown(as_ann, "/api/v1/timelines/home") == []


def edit(post_id: PostId, text: str) -> None:
    (row,) = read_posts(shard_of(post_id.author_id), [post_id])
    assert edit_post(row, Draft(text))


def mixed(ann: int, stranger: int, count: int) -> list[PostId]:
    """Posts of a followee with and without the tag, and of bob with it."""
    followee = make_account("cyd")
    follow(ann, followee)
    drain_all()
    choices = random.Random(1)
    posts = []
    for n in range(count):
        author, text = choices.choice([(stranger, "#tea"), (followee, "#tea"), (followee, "no")])
        posts.append(publish(author, text, clock_s=at(1000 + n // 2)))
        publish(stranger, "no tag")
    drain_all()
    return posts


@pytest.mark.parametrize("kept", [60, 4])
def test_pages_have_no_hole_and_no_repeat(ann, stranger, monkeypatch, kept):
    monkeypatch.setattr(entries_module, "ENTRIES_PER_TAG", kept)
    monkeypatch.setattr("timelines.tags.home.PULL_BATCH", 3)
    tag_entries_store.cache_clear()
    expected = newest_first(*mixed(ann, stranger, 40))
    for limit in (1, 7, 40):
        assert read_to_end(ann, limit) == expected
        assert read_from_bottom(ann, limit) == expected
    redis().call("DEL", b"timelines.tag_entries:v1:{%d}" % tag_id_of("tea"))
    assert read_to_end(ann) == expected
    tag_entries_store.cache_clear()


def test_rules_of_tag_timelines_hold(ann, stranger, drain):
    post = publish(stranger, "#tea")
    create_post(stranger, Draft("#tea", visibility=Visibility.UNLISTED))
    create_post(stranger, Draft("#tea", visibility=Visibility.PRIVATE))
    drain()
    assert first_page(ann) == [post.public]
    mute(ann, stranger)
    assert first_page(ann) == []
    unmute(ann, stranger)
    assert first_page(ann) == [post.public]
    block(stranger, ann)
    drain()
    assert first_page(ann) == []


@pytest.mark.parametrize("restriction", [Restriction.LIMITED, Restriction.SUSPENDED])
def test_restricted_accounts_are_left_out(ann, stranger, drain, restriction):
    publish(stranger, "#tea")
    drain()
    restrict(stranger, restriction)
    drain()
    assert first_page(ann) == []


def test_own_block_hides_them_at_once(ann, stranger, drain):
    publish(stranger, "#tea")
    drain()
    block(ann, stranger)
    assert first_page(ann) == []


def test_deleted_and_edited_posts_leave_at_once(ann, stranger, drain):
    gone, edited, kept = (publish(stranger, "#tea", clock_s=at(n)) for n in (1, 2, 3))
    drain()
    assert first_page(ann) == newest_first(gone, edited, kept)
    delete_post(gone)
    edit(edited, "coffee")
    assert first_page(ann) == [kept.public]
    drain()
    assert first_page(ann) == [kept.public]
    edit(edited, "#tea again")
    drain()
    assert first_page(ann) == newest_first(edited, kept)


def test_repost_and_tag_are_one_post_at_the_newest_place(ann, stranger, drain):
    followee = make_account("cyd")
    follow(ann, followee)
    post = publish(stranger, "#tea", clock_s=at(1))
    other = publish(stranger, "#tea", clock_s=at(2))
    by = repost(followee, post, clock_s=at(3))
    drain()
    assert first_page(ann) == newest_first(by, other)
    assert read_to_end(ann, 1) == newest_first(by, other)
    unfollow(ann, followee)
    assert first_page(ann) == newest_first(other, post)


def test_filters_of_home_apply(as_ann, ann, stranger, drain):
    publish(stranger, "#tea with milk")
    drain()
    body = {"title": "milk", "context": ["home"], "filter_action": "warn",
            "keywords_attributes": [{"keyword": "milk"}]}  # fmt: skip
    assert as_ann.post("/api/v2/filters", body).status_code == 200
    (status,) = as_ann.get("/api/v1/timelines/home").json()
    assert status["filtered"][0]["filter"]["title"] == "milk"


def test_kept_position_and_unread_count_them(as_ann, ann, stranger, drain):
    posts = [publish(stranger, "#tea", clock_s=at(n)) for n in range(1, 6)]
    drain()
    ids = newest_first(*posts)
    home = "/api/v1/timelines/home"
    assert shown(as_ann, home, around_id=ids[2], limit=3) == ids[1:4]
    as_ann.post("/api/v1/markers", {"home": {"last_read_id": ids[3]}})
    assert as_ann.get("/api/v1/markers", {"timeline[]": "home"}).json()["home"]["unread_count"] == 3
    caught = as_ann.get("/api/v1/timelines/home/catch_up").json()
    (group,) = caught["groups"]
    assert [status["id"] for status in group["statuses"]] == ids[:3]


def test_warm_home_costs_no_query(ann, stranger, drain):
    for n in range(50):
        add_own_tag(ann, TagListKind.FOLLOWED, f"tag{n}")
    post = publish(stranger, "#tag7")
    drain()
    first_page(ann, 19)
    with count_calls() as calls:
        assert first_page(ann, 20) == [post.public]
    assert (calls.statements, calls.round_trips) == ([], 2)
    first_page(ann, 20)
    with count_calls() as calls:
        assert first_page(ann, 20) == [post.public]
    assert (calls.statements, calls.round_trips) == ([], 1), "remembered, and confirmed"


def test_home_without_the_choice_costs_no_more_round_trips(ann, drain):
    followee = make_account("bob")
    follow(ann, followee)
    publish(followee, "hello")
    drain()
    first_page(ann, 19)
    with count_calls() as calls:
        first_page(ann, 20)
    assert (calls.statements, calls.round_trips) == ([], 2)


def test_a_flood_of_hidden_posts_costs_a_page_a_bounded_number_of_reads(
    ann, stranger, drain, monkeypatch
):
    monkeypatch.setattr("timelines.tags.home.MOST_READ", 30)
    followee = make_account("cyd")
    follow(ann, followee)
    old = publish(followee, "hello", clock_s=at(1))
    for n in range(60):
        publish(stranger, "#tea", clock_s=at(10 + n))
    drain()
    mute(ann, stranger)
    assert first_page(ann) == [old.public]


def test_lists_lack_nothing_that_is_pushed_while_they_are_built(ann, stranger, monkeypatch):
    first, second = publish(stranger, "#tea"), []
    drain_all()
    read = entries_module.read_newest_tagged

    def slow(*args: object) -> object:
        newest = read(*args)  # type: ignore[arg-type]
        if not second:
            second.append(publish(stranger, "#tea"))
            drain_all()
        return newest

    monkeypatch.setattr(entries_module, "read_newest_tagged", slow)
    load_tag_entries([tag_id_of("tea")])
    assert first_page(ann) == newest_first(first, *second)


@pytest.mark.parametrize("family", ["tag_entries", "home_tags"])
def test_lost_and_damaged_entries_are_read_again(ann, stranger, drain, family):
    post = publish(stranger, "#tea")
    drain()
    owner = tag_id_of("tea") if family == "tag_entries" else ann
    key = b"timelines.%b:v1:{%d}" % (family.encode(), owner)
    for damage in (("DEL", key), ("SET", key, b"7:9999999999:nonsense"), ("SET", key, b"x")):
        first_page(ann)
        assert redis().call("EXISTS", key) == 1
        redis().call(*damage)
        assert first_page(ann) == [post.public]


def test_a_process_that_dies_before_the_cache_knows_the_choice(ann, stranger, drain, monkeypatch):
    """Its change is delivered by the drain; a repetition of the request does it at once."""
    post = publish(stranger, "#milk")
    drain()
    assert first_page(ann) == []

    def die(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("timelines.tags.consumers.refresh_home_choices", die)
        add_own_tag(ann, TagListKind.FOLLOWED, "milk")
        assert first_page(ann) == []
    add_own_tag(ann, TagListKind.FOLLOWED, "milk")
    assert first_page(ann) == [post.public]
    with monkeypatch.context() as patch:
        patch.setattr("timelines.tags.consumers.refresh_home_choices", die)
        remove_own_tag(ann, TagListKind.FOLLOWED, tag_id_of("milk"))
    drain()
    assert first_page(ann) == []


def test_a_post_whose_drain_died_between_index_and_lists(ann, stranger, monkeypatch):
    """The drain delivers the change once more."""
    first_page(ann)

    def die(_: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr("timelines.tags.consumers.push_tag_entries", die)
        post = publish(stranger, "#tea")
        drain_all()
        assert first_page(ann) == []
    execute(shard_of(stranger), "UPDATE changes_change SET next_attempt_at = now()")
    drain_all()
    assert first_page(ann) == [post.public]


def test_polls_return_late_posts_with_home_tags(as_ann, ann, stranger, drain):
    home = "/api/v1/timelines/home"
    seen = publish(stranger, "#tea")
    drain()
    cursor = shown(as_ann, home)[0]
    shown(as_ann, home, min_id=cursor)
    late = publish(stranger, "#tea", clock_s=lambda: EPOCH + seen.second - 10)
    assert shown(as_ann, home, min_id=cursor) == []
    drain()
    assert shown(as_ann, home, min_id=cursor) == [late.public]


@pytest.mark.parametrize("text", ["no tag", "#tea"])
def test_polls_return_no_late_post_of_a_followee_before_it_is_pushed(
    as_ann, ann, stranger, drain, monkeypatch, text
):
    """The tag's list has newer posts only. The index, below it, has the tagged post."""
    monkeypatch.setattr(entries_module, "ENTRIES_PER_TAG", 2)
    monkeypatch.setattr(failpoints, "_armed", {})
    tag_entries_store.cache_clear()
    home, cyd = "/api/v1/timelines/home", make_account("cyd")
    follow(ann, cyd)
    seen = [
        publish(stranger, f"#tea {n}", clock_s=lambda n=n: time.time() - 40 + n) for n in range(4)
    ]
    drain()
    cursor = shown(as_ann, home)[0]
    assert cursor == seen[-1].public
    shown(as_ann, home, min_id=cursor)
    early = []

    def poll() -> None:
        early.append((shown(as_ann, home, min_id=cursor), shown(as_ann, home)))

    failpoints.arm("fan_out.indexed", poll)
    late = publish(cyd, text, clock_s=lambda: time.time() - 60)
    drain()
    failpoints.disarm("fan_out.indexed")
    [(polled, page)] = early
    assert set(polled) <= set(page), "an ordinary page would lack it"
    assert late.public in [*polled, *shown(as_ann, home, min_id=cursor)]
    tag_entries_store.cache_clear()


def test_news_know_of_them(as_ann, ann, stranger, drain):
    news = "/api/v1/timelines/home/news"
    seen = publish(stranger, "#tea")
    drain()
    assert as_ann.get(news, {"since_id": seen.public}).json()["new"] is False
    publish(stranger, "#tea again", clock_s=lambda: EPOCH + seen.second + 5)
    drain()
    assert as_ann.get(news, {"since_id": seen.public}).json()["accounts"] == [str(stranger)]


def test_audit_finds_and_adds_what_a_list_lacks(ann, stranger, drain, at_rest):
    first = publish(stranger, "#tea", clock_s=at(1))
    drain()
    assert first_page(ann) == [first.public]
    lacking = publish(stranger, "#tea", clock_s=at(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("timelines.tags.consumers.push_tag_entries", lambda _: None)
        drain()
    assert first_page(ann) == [first.public]
    found = Outcome(AuditTags())
    assert f"post {lacking.public} is not listed under #tea" in found.out
    assert found.code == 1
    assert Outcome(AuditTags(), "--repair").code == 0
    assert first_page(ann) == newest_first(first, lacking)
    assert Outcome(AuditTags()).code == 0
