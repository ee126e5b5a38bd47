"""Who may reply to a post, over HTTP: said by its author, held for the whole thread, shown."""

import pytest
from django.test import Client

from tests.budgets import count_calls
from tests.callers import Caller, assert_refused
from tests.integration.posts.interacting import STATUSES, see
from tests.truth import assert_drained_truth
from tests.world import make_account

POLICIES = ("public", "followers", "following", "mentioned", "nobody")
DENIED, ALLOWED = "denied", "automatic"


@pytest.fixture
def dan(people):
    return Caller(make_account("dan"))


@pytest.fixture
def related(people, me, you, them, drain):
    """Bob follows Ann, Ann follows Cyd, and Dan is mentioned."""
    you.post(f"/api/v1/accounts/{people[0]}/follow")
    me.post(f"/api/v1/accounts/{people[2]}/follow")
    drain()


def publish(caller, text="hi", **sent):
    answer = caller.post(STATUSES, {"status": text} | sent)
    assert answer.status_code == 200, answer.content
    return answer.json()


def limited(me, policy, **sent):
    return publish(me, "hi @dan", reply_approval_policy=policy, **sent)["id"]


def replies(caller, post_id):
    """Whether the account may reply, as the post says and as the API does."""
    says = see(caller, post_id)["reply_approval"]["current_user"] == ALLOWED
    answer = caller.post(STATUSES, {"status": "me too", "in_reply_to_id": post_id})
    assert answer.status_code == (200 if says else 403), answer.content
    return says


@pytest.mark.parametrize(
    ("policy", "may_reply"),
    [
        ("public", "ann bob cyd dan"),
        ("followers", "ann bob dan"),
        ("following", "ann cyd dan"),
        ("mentioned", "ann dan"),
        ("nobody", "ann"),
    ],
)
def test_those_may_reply_whom_the_author_lets(
    related, me, you, them, dan, policy, may_reply, drain
):
    post_id = limited(me, policy)
    callers = {"ann": me, "bob": you, "cyd": them, "dan": dan}
    assert {name for name in callers if replies(callers[name], post_id)} == {*may_reply.split()}
    drain()
    assert see(me, post_id)["replies_count"] == len(may_reply.split())
    guest = Client().get(f"{STATUSES}/{post_id}").json()["reply_approval"]
    assert guest["current_user"] == DENIED
    assert guest["automatic"] == {
        "public": ["public"], "nobody": [], "mentioned": ["mentioned"],
    }.get(policy, [policy, "mentioned"])  # fmt: skip
    assert_drained_truth()


def test_a_refused_reply_says_why_and_leaves_nothing(related, me, them, drain):
    post_id = publish(me, reply_approval_policy="followers")["id"]
    answer = them.post(STATUSES, {"status": "me too", "in_reply_to_id": post_id})
    assert_refused(answer, 403, "The author of the post does not let you reply")
    drain()
    assert see(me, post_id)["replies_count"] == 0


def test_it_holds_for_the_whole_thread(related, me, you, them, dan, drain):
    first = publish(me, reply_approval_policy="followers")["id"]
    reply = publish(you, in_reply_to_id=first)["id"]
    assert see(them, reply)["reply_approval"]["current_user"] == ALLOWED
    answer = them.post(STATUSES, {"status": "me too", "in_reply_to_id": reply})
    assert_refused(answer, 403, "The author of the post does not let you reply")
    deeper = publish(me, in_reply_to_id=reply)["id"]
    assert them.post(STATUSES, {"status": "x", "in_reply_to_id": deeper}).status_code == 403
    assert replies(you, deeper)
    me.delete(f"{STATUSES}/{first}")
    assert replies(them, deeper)


def test_a_first_post_that_one_may_not_see_still_says_who_may_reply(people, me, you, them, drain):
    you.post(f"/api/v1/accounts/{people[0]}/follow")
    drain()
    first = publish(me, reply_approval_policy="followers")["id"]
    reply = publish(you, in_reply_to_id=first)["id"]
    me.post(f"/api/v1/accounts/{people[2]}/block")
    drain()
    assert them.get(f"{STATUSES}/{first}").status_code == 404
    assert them.post(STATUSES, {"status": "x", "in_reply_to_id": reply}).status_code == 403


def test_a_reply_has_a_policy_of_its_own(related, me, you, them, dan):
    first = publish(me)["id"]
    reply = publish(you, in_reply_to_id=first, reply_approval_policy="nobody")["id"]
    assert [replies(caller, reply) for caller in (me, you, them)] == [False, True, False]
    assert replies(them, first)


def test_the_author_changes_it_and_replies_stay(related, people, me, you, them, drain):
    first = publish(me)["id"]
    assert replies(them, first)
    answer = me.client.put(
        f"{STATUSES}/{first}/interaction_policy",
        {"reply_approval_policy": "nobody"},
        "application/json",
    )
    assert answer.json()["reply_approval"] == {
        "automatic": [], "manual": [], "current_user": ALLOWED,
    }  # fmt: skip
    assert answer.json()["quote_approval"]["automatic"] == ["public"]
    assert not replies(you, first)
    drain()
    assert see(me, first)["replies_count"] == 1
    edited = me.client.put(f"{STATUSES}/{first}", {"status": "edited"}, "application/json").json()
    assert edited["reply_approval"]["automatic"] == []
    edited = me.client.put(
        f"{STATUSES}/{first}",
        {
            "status": "again",
            "reply_approval_policy": "following",
            "quote_approval_policy": "nobody",
        },
        "application/json",
    ).json()
    assert edited["reply_approval"]["automatic"] == ["following", "mentioned"]
    assert edited["quote_approval"]["automatic"] == []
    assert replies(them, first) and not replies(you, first)
    drain()
    assert_drained_truth()


def test_the_same_policy_again_changes_nothing(me, drain):
    first = publish(me, reply_approval_policy="followers")["id"]
    drain()
    path, body = f"{STATUSES}/{first}/interaction_policy", {"reply_approval_policy": "followers"}
    assert me.client.put(path, body, "application/json").status_code == 200
    assert drain() == 0


def test_only_the_author_changes_it(me, you, original):
    path, body = f"{STATUSES}/{original}/interaction_policy", {"reply_approval_policy": "nobody"}
    assert you.client.put(path, body, "application/json").status_code == 403
    assert me.client.put(path, {}, "application/json").status_code == 422


@pytest.mark.parametrize("word", ["everyone", "PUBLIC", 3, ["public"], {"a": 1}, True])
def test_another_word_is_refused(me, word):
    sent = {"status": "hi", "reply_approval_policy": word}
    answer = me.client.post(STATUSES, sent, "application/json")
    assert_refused(
        answer, 422, f"Validation failed: reply_approval_policy can be {', '.join(POLICIES)}"
    )


def test_all_readers_of_a_direct_message_may_reply(me, dan):
    message = limited(me, "nobody", visibility="direct")
    assert replies(dan, message)


def test_a_direct_message_in_a_limited_thread_can_be_answered_directly(me, dan):
    first = publish(me, reply_approval_policy="nobody")["id"]
    message = publish(me, "psst @dan", in_reply_to_id=first, visibility="direct")["id"]
    answered = {"status": "hm", "in_reply_to_id": message}
    assert dan.post(STATUSES, answered | {"visibility": "direct"}).status_code == 200
    assert_refused(dan.post(STATUSES, answered), 403)


def test_a_quiet_follow_of_the_author_stays_a_secret(people, me, them, drain):
    """Cyd would learn by a form to reply that Ann follows Cyd."""
    me.post(f"/api/v1/accounts/{people[2]}/follow", {"quiet": True})
    drain()
    post_id = publish(me, reply_approval_policy="following")["id"]
    assert see(them, post_id)["reply_approval"]["current_user"] == DENIED
    assert not replies(them, post_id)


def test_a_private_post_is_for_those_whom_both_let(related, people, me, you, them):
    post_id = limited(me, "following", visibility="private")
    assert see(you, post_id)["reply_approval"]["current_user"] == DENIED
    assert not replies(you, post_id)
    assert them.get(f"{STATUSES}/{post_id}").status_code == 404


def test_who_stops_following_may_reply_no_more(related, people, me, you, drain):
    post_id = publish(me, reply_approval_policy="followers")["id"]
    assert replies(you, post_id)
    you.post(f"/api/v1/accounts/{people[0]}/unfollow")
    assert not replies(you, post_id)


def test_a_repost_is_answered_as_its_original(related, me, you, them):
    post_id = publish(me, reply_approval_policy="followers")["id"]
    repost = you.post(f"{STATUSES}/{post_id}/reblog").json()
    assert repost["reblog"]["reply_approval"]["current_user"] == ALLOWED
    seen = see(them, repost["id"])
    assert seen["reblog"]["reply_approval"]["current_user"] == DENIED
    assert them.post(STATUSES, {"status": "x", "in_reply_to_id": repost["id"]}).status_code == 403


def test_a_quoted_post_says_it_too(related, me, you, them, dan):
    post_id = limited(me, "followers")
    quoting = publish(you, quoted_status_id=post_id)["id"]
    for caller, word in ((you, ALLOWED), (them, DENIED)):
        quoted = see(caller, quoting)["quote"]["quoted_status"]
        assert quoted["reply_approval"]["current_user"] == word
        assert quoted["mentions"][0]["acct"] == "dan"


def test_each_viewer_of_a_page_sees_the_own_answer(related, people, me, you, them, drain):
    post_id = publish(me, reply_approval_policy="followers")["id"]
    drain()
    path = f"/api/v1/accounts/{people[0]}/statuses"
    for _ in range(3):
        words = [
            page["reply_approval"]["current_user"]
            for caller in (you, them, me)
            for page in caller.get(path).json()
            if page["id"] == post_id
        ]
        assert words == [ALLOWED, DENIED, ALLOWED]


def test_a_page_costs_one_trip_more_at_most(related, people, me, you, drain):
    path = f"/api/v1/accounts/{people[0]}/statuses"
    for number in range(5):
        publish(me, f"open {number}")
    drain()
    you.get(path), you.get(path)
    with count_calls() as plain:
        you.get(path)
    for number in range(15):
        publish(me, f"limited {number}", reply_approval_policy="followers")
    drain()
    you.get(path), you.get(path)
    with count_calls() as costly:
        you.get(path)
    assert not costly.sql and not plain.sql
    assert costly.round_trips == plain.round_trips + 1
