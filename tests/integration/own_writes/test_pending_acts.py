"""A pending act is shown once, during its delivery and after Redis has lost it."""

import time

import pytest

from counters.cache import account_counts
from counters.kinds import CounterKind
from infra.caching.client import redis
from infra.caching.keys import key
from infra.caching.questions import answer
from infra.caller_acts import OwnAct
from infra.changes import own_acts
from infra.changes.own_acts import ask_own_acts, keep_own_acts
from posts.cache.by_post import number_of
from posts.cache.counts import post_counts
from posts.ids import PostId
from tests.dying import dying_at
from tests.integration.own_writes.acting import ACCOUNTS, STATUSES, Person, make_pair, publish
from tests.redis_away import redis_away
from tests.world import drain_all, make_account

pytestmark = pytest.mark.redis("single", "cluster")


@pytest.fixture
def two(world):
    """An account that acts, and one on another shard. The first has read all about the second."""
    actor, other = make_pair()
    post = publish(other)
    drain_all()
    see_all(actor, other, post)
    return actor, other, post


def followers(viewer, other):
    """The count, and the list, as the viewer sees them."""
    page = f"{ACCOUNTS}/{other.id}"
    return viewer.see(page)["followers_count"], viewer.see_ids(f"{page}/followers")


def favourites(viewer, post):
    return viewer.see(f"{STATUSES}/{post}")["favourites_count"]


def replies(viewer, post):
    """The count, and the thread, as the viewer sees them."""
    below = viewer.see(f"{STATUSES}/{post}/context")["descendants"]
    return viewer.see(f"{STATUSES}/{post}")["replies_count"], [one["id"] for one in below]


def see_all(actor, other, post):
    return followers(actor, other), favourites(actor, post), replies(actor, post)


def follow(person, other, end=""):
    return person.act(f"{ACCOUNTS}/{other.id}/{end}follow")


def favourite(person, post, end=""):
    return person.act(f"{STATUSES}/{post}/{end}favourite")["favourites_count"]


def noted(actor):
    return answer(ask_own_acts(int(actor.id)))


def act_on(actor, other, post):
    """Both acts. Each has its rows on the other shard, and the caches lack them."""
    assert favourite(actor, post) == 1
    with dying_at("posts.responses_recorded"):
        drain_all()
    follow(actor, other)
    with dying_at("relations.mirrored"):
        drain_all()
    assert len(noted(actor)) == 2


def test_rows_that_the_caches_lack_are_not_counted_twice(two):
    """A reader loads the counts from the shard before the drain is repeated."""
    actor, other, post = two
    act_on(actor, other, post)
    redis().call("DEL", account_counts.key(int(other.id)))
    redis().call("DEL", post_counts.key(number_of(PostId.from_public(post))))
    for viewer in (Person(make_account()), actor):
        assert (followers(viewer, other)[0], favourites(viewer, post)) == (1, 1)
    drain_all()
    assert noted(actor) == {}
    assert (followers(actor, other), favourites(actor, post)) == ((1, [actor.id]), 1)


def test_a_turn_during_the_delivery_of_the_first_act_is_seen(two):
    actor, other, post = two
    act_on(actor, other, post)
    follow(actor, other, "un")
    assert favourite(actor, post, "un") == 0
    assert (followers(actor, other), favourites(actor, post)) == ((0, []), 0)
    follow(actor, other)
    assert favourite(actor, post) == 1
    assert (followers(actor, other), favourites(actor, post)) == ((1, [actor.id]), 1)
    drain_all()
    assert (followers(actor, other), favourites(actor, post)) == ((1, [actor.id]), 1)


def test_acts_of_others_neither_hide_nor_double_it(two):
    actor, other, _ = two
    stranger = Person(make_account())
    follow(actor, other)
    pending = noted(actor)
    follow(stranger, other)
    drain_all()
    keep_own_acts(int(actor.id), pending)  # as if only the other one's was delivered
    assert followers(actor, other)[0] == 1
    redis().call("DEL", key(own_acts.FAMILY, int(actor.id)))
    assert followers(actor, other) == (2, [stranger.id, actor.id])


def test_the_delivery_of_an_act_leaves_the_note_of_a_later_one(two):
    actor, other, _ = two
    follow(actor, other)
    (first,) = noted(actor).values()
    follow(actor, other, "un")
    (last,) = noted(actor).values()
    assert (first.shown, last.shown) == (1, 0)
    act = OwnAct(CounterKind.FOLLOWERS, int(other.id))
    keep_own_acts(int(actor.id), {act: first})
    assert noted(actor)[act].change_id == last.change_id
    notes = key(own_acts.FAMILY, int(actor.id))
    redis().run([own_acts.SETTLE.on([notes], own_acts._field(act), first.change_id)])
    assert noted(actor)[act].change_id == last.change_id


def test_a_note_that_came_after_the_delivery_ends_soon(two):
    actor, other, _ = two
    follow(actor, other)
    pending = noted(actor)
    drain_all()
    follow(Person(make_account()), other)
    drain_all()
    keep_own_acts(int(actor.id), pending)
    assert followers(actor, other)[0] == 1
    late = {act: one._replace(at_s=int(time.time()) - 11) for act, one in pending.items()}
    keep_own_acts(int(actor.id), late)
    assert followers(actor, other)[0] == 2
    assert redis().call("EXISTS", key(own_acts.FAMILY, int(actor.id))) == 0


def test_a_note_of_a_change_that_stays_pending_goes_on(two):
    actor, other, _ = two
    follow(actor, other)
    late = {act: one._replace(at_s=int(time.time()) - 11) for act, one in noted(actor).items()}
    keep_own_acts(int(actor.id), late)
    assert followers(actor, other) == (1, [actor.id])
    assert all(one.at_s > time.time() - 5 for one in noted(actor).values())


def test_after_a_flush_pending_acts_are_in_the_change_table(two):
    actor, other, post = two
    follow(actor, other)
    favourite(actor, post)
    mine = publish(actor, "so?", in_reply_to_id=post)
    redis()._client.clear()
    for _ in range(2):
        assert see_all(actor, other, post) == ((1, [actor.id]), 1, (1, [mine]))
    drain_all()
    assert see_all(actor, other, post) == ((1, [actor.id]), 1, (1, [mine]))


def test_without_redis_too(two):
    actor, other, post = two
    with redis_away():
        follow(actor, other)
        favourite(actor, post)
        mine = publish(actor, "so?", in_reply_to_id=post)
        assert see_all(actor, other, post) == ((1, [actor.id]), 1, (1, [mine]))


def test_a_client_that_has_the_answer_from_before_gets_a_new_one(two):
    actor, _, post = two
    page = f"{STATUSES}/{post}"
    tag = actor.client.get(page)["ETag"]
    assert actor.client.get(page, headers={"if-none-match": tag}).status_code == 304
    publish(actor, "so?", in_reply_to_id=post)
    shown = actor.client.get(page, headers={"if-none-match": tag})
    assert (shown.status_code, shown.json()["replies_count"]) == (200, 1)
    assert "ETag" not in shown
    drain_all()
    assert actor.client.get(page)["ETag"] != tag


def test_a_request_that_died_after_its_commit_is_shown_once_it_is_repeated(two):
    actor, other, post = two
    for act in (follow, favourite):
        with dying_at("changes.committed"):
            act(actor, {follow: other, favourite: post}[act])
    assert favourite(actor, post) == 1
    follow(actor, other)
    assert (followers(actor, other), favourites(actor, post)) == ((1, [actor.id]), 1)
    drain_all()
    assert (followers(actor, other), favourites(actor, post)) == ((1, [actor.id]), 1)


def test_a_repeated_request_keeps_what_the_first_one_noted(two):
    actor, other, _ = two
    for _ in range(2):
        follow(actor, other)
        assert [one.shown for one in noted(actor).values()] == [1]


def test_a_deleted_reply_and_an_undone_repost_are_gone(two):
    actor, _, post = two
    mine = publish(actor, "so?", in_reply_to_id=post)
    repost = actor.act(f"{STATUSES}/{post}/reblog")
    assert repost["reblog"]["reblogs_count"] == repost["reblogs_count"] == 1
    drain_all()
    actor.act(f"{STATUSES}/{mine}", method="DELETE")
    assert replies(actor, post) == (0, [])
    actor.act(f"{STATUSES}/{repost['id']}", method="DELETE")
    assert actor.see(f"{STATUSES}/{post}")["reblogs_count"] == 0
    assert actor.see_ids(f"{STATUSES}/{post}/reblogged_by") == []
    drain_all()
    assert replies(actor, post) == (0, [])


def test_own_tagged_posts_are_on_the_pages_of_their_tags_only(two):
    actor, _, _ = two
    mine = publish(actor, "#tea")
    assert actor.see_ids("/api/v1/timelines/tag/tea") == [mine]
    assert actor.see_ids("/api/v1/timelines/tag/coffee") == []
    assert actor.see_ids("/api/v1/timelines/tag/tea?none[]=tea") == []
    drain_all()
    assert actor.see_ids("/api/v1/timelines/tag/tea") == [mine]
