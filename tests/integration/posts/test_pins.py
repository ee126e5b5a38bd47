"""Pins over HTTP: who can pin what, who sees it where, and how many there are.

An interaction can be undone on a post that one may not see any more, and shows nothing of it.

Several posts by their ids in one request.
"""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.types import Restriction
from moderation.types import DecisionKind
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from posts.models import ViewerMark
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.follow import follow
from tests.callers import Caller, assert_refused, ids_of
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.people import decide_on
from tests.races import run_together
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts, publish, restrict


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


UNDOING = {
    "favourite": "unfavourite",
    "bookmark": "unbookmark",
    "reblog": "unreblog",
    "mute": "unmute",
}
SECRET = "nothing of it"


def end_following(caller: Caller, post: PostId) -> None:
    assert caller.post(f"/api/v1/accounts/{post.author_id}/unfollow").status_code == 200


def be_blocked(caller: Caller, post: PostId) -> None:
    block(post.author_id, int(caller.get("/api/v1/accounts/verify_credentials").json()["id"]))


def be_limited(caller: Caller, post: PostId) -> None:
    end_following(caller, post)
    restrict(post.author_id, Restriction.LIMITED)


LOSSES: dict[str, Callable[[Caller, PostId], object]] = {
    "deleted": lambda _, post: delete_post(post),
    "hidden": lambda _, post: decide_on(post, DecisionKind.HIDE),
    "suspended": lambda _, post: restrict(post.author_id, Restriction.SUSPENDED),
    "blocked": be_blocked,
    "limited": be_limited,
    "not followed": end_following,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_every_undo_works_on_a_post_that_is_out_of_sight(world: None, loss: str) -> None:
    me, author = make_accounts(2)
    follow(me, author)
    drain_all()
    caller, is_closed = Caller(me), loss == "not followed"
    visibility = Visibility.PRIVATE if is_closed else Visibility.PUBLIC
    post = create_post(author, Draft(SECRET, visibility=visibility))
    # A closed post cannot be reposted, and the drain ends the reposts of a deleted one.
    acts = [act for act in UNDOING if act != "reblog" or loss not in ("not followed", "deleted")]
    for act in acts:
        do(caller, act, post.public)
    drain_all()
    LOSSES[loss](caller, post)
    drain_all()
    for act in acts:
        assert caller.get(f"{STATUSES}/{post.public}").status_code == 404
        undone = do(caller, UNDOING[act], post.public)
        assert (undone["id"], undone["muted"]) == (post.public, act != "mute" and "mute" in acts)
        assert SECRET not in undone["content"]
        do(caller, UNDOING[act], post.public, status=404)  # nothing to undo
    assert (
        not ViewerMark.objects.of(me)
        .filter(is_on=True, kind__in=(Kind.FAVOURITE, Kind.BOOKMARK, Kind.THREAD_MUTE))
        .exists()
    )


def test_visible_posts_are_answered_in_the_order_asked_each_once(people, me, you):
    mine = [publish(people[0], str(n)).public for n in range(3)]
    gone = publish(people[0], "gone").public
    me.delete(f"{STATUSES}/{gone}")
    wanted = [mine[2], "no-id", mine[0], gone, mine[2], mine[1]]
    assert ids_of(you.get(STATUSES, {"id[]": wanted})) == [mine[2], mine[0], mine[1]]
    assert ids_of(Client().get(STATUSES, {"id": mine[0]})) == [mine[0]]
    assert ids_of(Client().get(STATUSES)) == []
    me.post(f"/api/v1/accounts/{people[1]}/block")
    assert ids_of(you.get(STATUSES, {"id[]": wanted})) == []


def test_more_than_forty_are_refused(me):
    assert_refused(me.get(STATUSES, {"id[]": [str(10**15 + n) for n in range(41)]}), 422)
