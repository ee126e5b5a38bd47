"""Tag timelines, the tag index, and followed and featured tags."""

import random
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from infra.changes.verbs.delivering import ReplayChanges
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.types import Draft, Visibility
from relations.actions.block import block
from relations.actions.mute import mute
from tests.callers import Caller
from tests.races import failures, run_together
from tests.world import drain_all, make_account, make_accounts
from tests.world import publish as publish_only
from timelines.tags.actions.own_tags import MOST_FEATURED, add_own_tag
from timelines.tags.models import TaggedPost
from timelines.tags.types import TagListKind, tag_id_of

TAG = "/api/v1/timelines/tag/"


def shown(caller: Caller | Client, path: str = "tea", **query: object) -> list[str]:
    answer = caller.get(f"{TAG}{path}", query)
    assert answer.status_code == 200, answer.content
    return [status["id"] for status in answer.json()]


def publish(author_id: int, text: str = "hello") -> PostId:
    """The index has it."""
    post_id = publish_only(author_id, text)
    drain_all()
    return post_id


def arrived_long_ago(tag: str) -> None:
    """So no poll takes them for late."""
    execute(shard_of(tag_id_of(tag)), "UPDATE tags_taggedpost SET arrival = 0")


def index_rows() -> list[tuple[int, ...]]:
    sql = "SELECT tag_id, second, author_id, sequence FROM tags_taggedpost"
    return sorted(row for alias in settings.SHARD_ALIASES for row in fetch_all(alias, sql))


def test_own_post_is_on_the_tag_timeline_at_the_next_read(as_ann):
    made = as_ann.post("/api/v1/statuses", {"status": "a cup of #Tea"}).json()
    assert (shown(as_ann), shown(Client(), "TEA")) == ([made["id"]], [])
    drain_all()
    assert shown(as_ann) == shown(Client(), "TEA") == [made["id"]]
    assert as_ann.delete(f"/api/v1/statuses/{made['id']}").status_code == 200
    assert shown(as_ann) == []


def test_index_follows_posts_and_replays(ann, drain):
    kept, gone = publish(ann, "#a #b"), publish(ann, "#a")
    create_post(ann, Draft("#a", visibility=Visibility.UNLISTED))
    delete_post(gone)
    drain()
    wanted = sorted((tag_id_of(name), *kept) for name in "ab")
    assert index_rows() == wanted
    call_command(ReplayChanges(), since=datetime.now(UTC) - timedelta(hours=1), verbosity=0)
    drain()
    assert index_rows() == wanted


def test_late_news_of_a_deleted_post_adds_nothing(ann, drain):
    """The drain runs the creation after the post was deleted."""
    delete_post(publish_only(ann, "#a"))
    drain()
    assert index_rows() == []


def test_pages_show_each_post_once_while_others_post(as_ann):
    authors = make_accounts(3)
    ids = [publish(random.choice(authors), f"#tea {n}").public for n in range(25)]
    seen, url = [], f"{TAG}tea?limit=4"
    while url:
        answer = as_ann.get(url)
        seen += [status["id"] for status in answer.json()]
        publish(authors[-1], "#tea newer")  # above all others of the same second
        links = dict(reversed(link.split("; ")) for link in answer.get("Link", "").split(", "))
        url = links.get('rel="next"', "")[1:-1].replace("http://localhost:8000", "")
    assert seen == sorted(ids, key=int, reverse=True)


def test_min_id_is_the_page_just_above(as_ann, ann):
    ids = [publish(ann, "#tea").public for _ in range(6)]
    arrived_long_ago("tea")
    assert shown(as_ann, min_id=ids[1], limit=2) == [ids[3], ids[2]]
    assert shown(as_ann, since_id=ids[1], limit=2) == [ids[5], ids[4]]
    assert shown(as_ann, max_id=ids[2]) == [ids[1], ids[0]]


def test_other_tags_widen_and_narrow(as_ann, ann):
    both, one, other = (publish(ann, text).public for text in ("#tea #milk", "#tea", "#milk"))
    assert shown(as_ann, **{"any[]": "milk"}) == [other, one, both]
    assert shown(as_ann, **{"all[]": "#Milk"}) == [both]
    assert shown(as_ann, **{"none[]": "milk"}) == [one]
    assert as_ann.get(f"{TAG}tea", {"any[]": ["a", "b", "c", "d", "e"]}).status_code == 422
    assert as_ann.get(f"{TAG}tea", {"any[]": "no tag"}).status_code == 422
    assert shown(as_ann, remote=True) == shown(as_ann, only_media=True) == []


@pytest.mark.parametrize("act", [block, mute, lambda as_ann, other: block(other, as_ann)])
def test_rules_hold(as_ann, ann, act):
    bob = make_account()
    publish(bob, "#tea")
    assert len(shown(as_ann)) == 1
    act(ann, bob)
    assert shown(as_ann) == []
    assert len(shown(Client())) == 1


def test_page_is_full_although_others_are_hidden(as_ann, ann):
    bob = make_account()
    own = [publish(ann, "#tea").public for _ in range(3)]
    for _ in range(9):
        publish(bob, "#tea")
    mute(ann, bob)
    assert shown(as_ann, limit=3) == own[::-1]


def test_text_that_is_no_tag_has_no_page(as_ann):
    for name in ["no%20tag", "2024", "a.b", "x" * 101, "%00"]:
        assert as_ann.get(f"/api/v1/tags/{name}").status_code == 404, name
        assert as_ann.get(f"{TAG}{name}").status_code == 404, name


def test_tag_is_followed_listed_and_unfollowed(as_ann, ann):
    publish(ann, "#Tea")
    tag = as_ann.post("/api/v1/tags/Tea/follow").json()
    assert (tag["name"], tag["following"], tag["featuring"]) == ("Tea", True, False)
    assert (len(tag["history"]), tag["history"][0]["uses"]) == (7, "1")
    assert tag["history"][0]["accounts"] == "1"
    as_ann.post("/api/v1/tags/tea/follow")
    assert [one["name"] for one in as_ann.get("/api/v1/followed_tags").json()] == ["Tea"]
    assert as_ann.post("/api/v1/tags/TEA/unfollow").json()["following"] is False
    assert as_ann.get("/api/v1/followed_tags").json() == []
    assert "following" not in Client().get("/api/v1/tags/tea").json()


def test_tag_is_shown_on_the_profile_and_taken_off(as_ann, ann):
    for _ in range(2):
        tag = as_ann.post("/api/v1/tags/Tea/feature").json()
        assert (tag["name"], tag["featuring"], tag["following"]) == ("Tea", True, False)
    assert [one["name"] for one in as_ann.get("/api/v1/featured_tags").json()] == ["Tea"]
    assert [as_ann.post("/api/v1/tags/tea/unfeature").json()["featuring"] for _ in "12"] == [
        False
    ] * 2
    assert as_ann.get("/api/v1/featured_tags").json() == []
    assert as_ann.post("/api/v1/tags/%23tea/feature").status_code == 404


def test_followed_tags_are_paged(as_ann, ann):
    for n in range(5):
        add_own_tag(ann, TagListKind.FOLLOWED, f"tag{n}", clock_ms=lambda n=n: n)
    first = as_ann.get("/api/v1/followed_tags", {"limit": 2})
    assert [tag["name"] for tag in first.json()] == ["tag4", "tag3"]
    second = as_ann.get("/api/v1/followed_tags", {"limit": 2, "max_id": first.json()[-1]["id"]})
    assert [tag["name"] for tag in second.json()] == ["tag2", "tag1"]
    newer = as_ann.get("/api/v1/followed_tags", {"limit": 1, "min_id": second.json()[-1]["id"]})
    assert [tag["name"] for tag in newer.json()] == ["tag2"]


def test_featured_tags_count_the_authors_posts(as_ann, ann):
    publish(ann, "#tea")
    create_post(ann, Draft("#tea", visibility=Visibility.UNLISTED))
    create_post(ann, Draft("#tea", visibility=Visibility.PRIVATE))
    last = publish(ann, "#Tea #milk")
    made = as_ann.post("/api/v1/featured_tags", {"name": "#Tea"}).json()
    assert (made["name"], made["statuses_count"]) == ("Tea", "3"), "unlisted posts count too"
    assert (
        made["last_status_at"]
        == as_ann.get(f"/api/v1/statuses/{last.public}").json()["created_at"][:10]
    )
    assert as_ann.get("/api/v1/featured_tags").json() == [made]
    assert Client().get(f"/api/v1/accounts/{ann}/featured_tags").json() == [made]
    assert [t["name"] for t in as_ann.get("/api/v1/featured_tags/suggestions").json()] == ["milk"]
    assert as_ann.delete(f"/api/v1/featured_tags/{made['id']}").status_code == 200
    assert as_ann.delete(f"/api/v1/featured_tags/{made['id']}").status_code == 404
    assert as_ann.get("/api/v1/featured_tags").json() == []


def test_caps_of_own_tags_are_exact(as_ann, ann):
    calls = [partial(add_own_tag, ann, TagListKind.FEATURED, f"tag{n}") for n in range(14)]
    assert len(failures(run_together(calls))) == 14 - MOST_FEATURED
    refused = as_ann.post("/api/v1/featured_tags", {"name": "more"})
    assert (refused.status_code, "too many" in refused.json()["error"]) == (422, True)


def test_authors_page_has_the_posts_with_a_tag(as_ann, ann):
    path = f"/api/v1/accounts/{ann}/statuses"
    ids = [publish(ann, text).public for text in ("#tea", "none", "#Tea #milk", "#milk")]
    create_post(ann, Draft("#tea", visibility=Visibility.PRIVATE))
    create_post(ann, Draft("#tea", in_reply_to=publish(make_account())))
    found = [
        one["id"] for one in as_ann.get(path, {"tagged": "#TEA", "exclude_replies": "true"}).json()
    ]
    assert found == [ids[2], ids[0]]
    assert len(as_ann.get(path, {"tagged": "tea"}).json()) == 3
    assert as_ann.get(path, {"tagged": "tea", "only_media": "true"}).json() == []
    assert as_ann.get(path, {"tagged": "rum"}).json() == []
    assert as_ann.get(path, {"tagged": "a\x00b"}).status_code == 422


def test_instance_states_the_cap():
    limits = Client().get("/api/v2/instance").json()["configuration"]["accounts"]
    assert limits["max_featured_tags"] == MOST_FEATURED


def test_backfill_adds_what_the_index_lacks(ann, drain, capsys):
    publish(ann, "#a #b")
    publish(ann, "no tag")
    drain()
    before = index_rows()
    for alias in settings.SHARD_ALIASES:
        execute(alias, "DELETE FROM tags_taggedpost")
    call_command("backfill", "tags", "--dry-run")
    assert index_rows() == []
    call_command("backfill", "tags")
    assert index_rows() == before
    assert "1 posts done, 2 changed" in capsys.readouterr().out


def test_index_needs_no_more_than_its_shard(ann):
    post_id = publish(ann, "#tea")
    row = TaggedPost.objects.on(shard_of(tag_id_of("tea"))).get()
    assert PostId(row.second, row.author_id, row.sequence) == post_id
