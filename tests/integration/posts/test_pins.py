"""Pins over HTTP: who can pin what, who sees it where, and how many there are."""

from django.test import Client

from posts.models import ViewerMark
from posts.types import Kind
from tests.callers import Caller, ids_of
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.races import run_together
from tests.truth import assert_drained_truth
from tests.world import publish


def pins_of(author_id: int, viewer: Caller | None = None, **more: str) -> list[str]:
    reader = viewer.client if viewer else Client()
    path = f"/api/v1/accounts/{author_id}/statuses"
    return ids_of(reader.get(path, {"pinned": "true"} | more))


def test_pinned_posts_are_on_top_of_the_page_for_all_and_marked_for_their_author(people, me, you):
    one, two = publish(people[0], "one").public, publish(people[0], "two").public
    assert do(me, "pin", one)["pinned"] is True
    assert do(me, "pin", two)["pinned"] is True
    assert do(me, "pin", one)["pinned"] is True  # again: the order stays
    assert pins_of(people[0]) == pins_of(people[0], you) == [two, one]
    assert pins_of(people[0], limit="1") == [two]
    assert (see(me, one)["pinned"], see(you, one)["pinned"]) == (True, False)
    assert do(me, "unpin", two)["pinned"] is False
    assert pins_of(people[0], me) == [one]


def test_a_deleted_post_is_not_pinned_and_makes_room(people, me, settings, drain):
    settings.MAX_PINNED_POSTS = 1
    one, two = publish(people[0], "one").public, publish(people[0], "two").public
    do(me, "pin", one)
    assert "maximum" in do(me, "pin", two, status=422)["error"]
    me.delete(f"{STATUSES}/{one}")
    assert pins_of(people[0]) == []
    do(me, "pin", two)
    assert pins_of(people[0]) == [two]
    drain()
    assert_drained_truth()


def test_two_pins_at_once_do_not_exceed_the_limit(people, me, settings):
    settings.MAX_PINNED_POSTS = 1
    posts = [publish(people[0], text).public for text in ("one", "two")]
    statuses = run_together(lambda p=p: me.post(f"{STATUSES}/{p}/pin").status_code for p in posts)
    assert sorted(statuses) == [200, 422]
    assert ViewerMark.objects.of(people[0]).filter(kind=Kind.PIN, is_on=True).count() == 1


def test_only_own_posts_that_are_no_reposts_are_pinned(people, me, you, original):
    assert "Someone else" in do(you, "pin", original, status=422)["error"]
    assert "boost" in do(you, "pin", do(you, "reblog", original)["id"], status=422)["error"]
    do(you, "pin", original[:-1] + "9", status=404)
    answer = reply(you, original)["id"]
    do(you, "pin", answer)
    assert pins_of(people[1]) == [answer]
    assert pins_of(people[1], exclude_replies="true") == []


def test_who_is_blocked_sees_no_pins(people, me, you, original):
    do(me, "pin", original)
    me.post(f"/api/v1/accounts/{people[1]}/block")
    assert pins_of(people[0], you) == []


def test_instance_says_how_many_posts_can_be_pinned(world, settings):
    limits = Client().get("/api/v2/instance").json()["configuration"]["accounts"]
    assert limits["max_pinned_statuses"] == settings.MAX_PINNED_POSTS
