"""The answer to a new post is what a read of the post gives, and is made without reading it.

For each kind of post the read comes at once, then after the drain, and then with empty caches.
"""

import pytest

from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.pages.post_kinds import upload_images
from tests.integration.posts.interacting import STATUSES, do
from tests.redis_away import redis_away
from tests.world import drain_all, flush_redis

TEXT = "hello @bob and @somebody_else, see #Tea https://example.org/?a=1&b=2"
POLL = {"options": ["black", "green"], "expires_in": 300, "multiple": True, "hide_totals": True}
NO_TEA = {"title": "no", "context": ["home"], "keywords_attributes": [{"keyword": "tea"}]}


@pytest.fixture
def mine(me):
    return me.post(STATUSES, {"status": "first"}).json()["id"]


@pytest.fixture
def theirs(you):
    return you.post(STATUSES, {"status": "a question"}).json()["id"]


KINDS = {
    "plain": lambda *_: {"status": TEXT},
    "all options": lambda *_: {
        "status": TEXT,
        "spoiler_text": "<about> tea",
        "sensitive": True,
        "language": "sv",
        "quote_approval_policy": "followers",
        "reply_approval_policy": "followers",
    },
    "reply": lambda mine, theirs, me: {"status": TEXT, "in_reply_to_id": theirs},
    "reply to an own post": lambda mine, theirs, me: {"status": TEXT, "in_reply_to_id": mine},
    "quote": lambda mine, theirs, me: {"status": TEXT, "quoted_status_id": theirs},
    "quote of an own post": lambda mine, theirs, me: {"quoted_status_id": mine},
    "poll": lambda *_: {"status": TEXT, "poll": POLL},
    "images": lambda mine, theirs, me: {"status": TEXT, "media_ids": upload_images(me.id)},
    "unlisted": lambda *_: {"status": TEXT, "visibility": "unlisted"},
    "private": lambda *_: {"status": TEXT, "visibility": "private"},
    "direct": lambda *_: {"status": TEXT, "visibility": "direct"},
    "mentioned may reply": lambda *_: {"status": TEXT, "reply_approval_policy": "mentioned"},
}


def read(caller, post):
    answer = caller.get(f"{STATUSES}/{post}")
    assert answer.status_code == 200, answer.content
    return answer.content


def assert_answered_as_read(caller, answer):
    assert answer.status_code == 200, answer.content
    post = answer.json()["id"]
    assert read(caller, post) == answer.content
    drain_all()
    assert read(caller, post) == answer.content
    flush_redis()
    assert read(caller, post) == answer.content


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_what_a_read_gives(me, you, mine, theirs, kind):
    assert_answered_as_read(me, me.post(STATUSES, KINDS[kind](mine, theirs, me)))


@pytest.mark.parametrize("kind", ["plain", "reply", "quote", "images"])
def test_so_it_is_for_a_first_post_of_an_author_who_is_not_cached(me, you, mine, theirs, kind):
    body = KINDS[kind](mine, theirs, me)
    drain_all()
    flush_redis()
    assert_answered_as_read(me, me.post(STATUSES, body))


def test_it_has_the_filters_of_its_author(me, you, mine, theirs):
    assert me.post("/api/v2/filters", NO_TEA).status_code == 200
    answer = me.post(STATUSES, {"status": TEXT})
    assert answer.json()["filtered"]
    assert_answered_as_read(me, answer)


def test_a_reply_in_a_muted_thread_is_muted(me, you, mine, theirs):
    do(me, "mute", mine)
    answer = me.post(STATUSES, {"status": "on", "in_reply_to_id": mine})
    assert answer.json()["muted"] is True
    assert_answered_as_read(me, answer)


def test_an_author_sees_own_follows_in_it(me, you, mine, theirs):
    follow(me.id, you.id)
    answer = me.post(STATUSES, {"status": TEXT})
    assert answer.json()["account"]["following_count"] == 1
    assert_answered_as_read(me, answer)


def test_without_redis_it_is_the_same(me, you, mine, theirs):
    with redis_away():
        answer = me.post(STATUSES, {"status": TEXT})
    assert_answered_as_read(me, answer)


def test_a_repeated_key_gets_the_same_answer(me, you, mine, theirs):
    first = me.post(STATUSES, {"status": TEXT}, **{"Idempotency-Key": "one"})
    again = me.post(STATUSES, {"status": TEXT}, **{"Idempotency-Key": "one"})
    assert again.content == first.content


def test_the_post_is_not_read_again(me, you, mine, theirs):
    """Three trips: the caches with the author, the own home timeline, and the wake-up. One for the
    token. Two statements: what the author wants for all posts, and the post."""
    me.post(STATUSES, {"status": TEXT})
    with count_calls() as calls:
        me.post(STATUSES, {"status": "hello"})
    assert (calls.sql.total(), calls.round_trips) == (2, 4)
