"""Posts through HTTP, with real tokens, and as Mastodon.py reads them."""

import orjson
import pytest
from django.test import Client
from mastodon.return_types import Status
from mastodon.types_base import try_cast

from posts.models import Post
from tests.budgets import count_calls
from tests.callers import Caller
from tests.truth import assert_drained_truth
from tests.world import make_account, make_accounts, rest

STATUSES = "/api/v1/statuses"


@pytest.fixture
def ann(world):
    return make_account()


@pytest.fixture
def me(ann):
    return Caller(ann)


def publish(caller: Caller, text: str = "hello", key: str | None = None, **more: object):
    headers = {"Idempotency-Key": key} if key else {}
    answer = caller.post(STATUSES, {"status": text} | more, **headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_published_post_is_answered_and_read_by_anybody(ann, me, drain):
    sent = {"sensitive": True, "spoiler_text": "careful", "language": "en"}
    made = publish(me, "a < b & 🌊\nnext", **sent)
    assert made["content"] == "<p>a &lt; b &amp; 🌊<br />next</p>"
    assert {name: made[name] for name in sent} == sent
    assert made["account"]["id"] == str(ann)
    assert made["application"] == {"name": "Tests", "website": None}
    assert Client().get(f"{STATUSES}/{made['id']}").json() == made
    drain()
    assert_drained_truth()


def test_status_is_one_to_mastodon_py(me):
    made = publish(me)
    status = try_cast(Status, made)
    assert isinstance(status, Status)
    assert (status.id, status.content) == (made["id"], "<p>hello</p>")
    assert status.created_at.utcoffset().total_seconds() == 0
    assert status.account.statuses_count >= 0


def test_forms_publish_as_json_does(me):
    answer = me.client.post(STATUSES, {"status": "from a form", "sensitive": "on"})
    assert (answer.json()["content"], answer.json()["sensitive"]) == ("<p>from a form</p>", True)


def test_key_publishes_once(ann, me):
    first = publish(me, key="one")
    assert publish(me, "another text", key="one")["id"] == first["id"]
    assert publish(me, key="two")["id"] != first["id"]
    assert Post.objects.of(ann).count() == 2


def test_key_of_a_post_that_is_deleted_does_not_publish_again(ann, me):
    first = publish(me, key="one")
    me.delete(f"{STATUSES}/{first['id']}")
    answer = me.post(STATUSES, {"status": "hello"}, **{"Idempotency-Key": "one"})
    assert answer.status_code == 404
    assert Post.objects.of(ann).count() == 1


def test_deleted_post_is_answered_with_its_text_and_gone(me):
    made = publish(me, "as <typed>")
    deleted = me.delete(f"{STATUSES}/{made['id']}")
    assert (deleted.status_code, deleted.json()["text"]) == (200, "as <typed>")
    assert deleted.json()["id"] == made["id"]
    for answer in (me.get(f"{STATUSES}/{made['id']}"), me.delete(f"{STATUSES}/{made['id']}")):
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})


def test_others_posts_cannot_be_deleted_nor_told_from_none(world):
    ann, bob = map(Caller, make_accounts(2))
    made = publish(ann)
    answer = bob.delete(f"{STATUSES}/{made['id']}")
    assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
    assert bob.get(f"{STATUSES}/{made['id']}").status_code == 200


def test_counts_beside_the_post_follow(ann, me):
    publish(me)
    made = publish(me)
    shown = me.get(f"/api/v1/accounts/{ann}").json()
    assert shown["statuses_count"] == 2
    me.delete(f"{STATUSES}/{made['id']}")
    assert me.get(f"/api/v1/accounts/{ann}").json()["statuses_count"] == 1


def test_warm_post_costs_no_query(me):
    path = f"{STATUSES}/{publish(me)['id']}"
    me.get(path)
    rest()
    with count_calls() as calls:
        assert me.get(path).status_code == 200
    assert calls.sql.total() == 0
    assert calls.round_trips == 1


def test_limit_counts_characters(me, settings):
    settings.POST_MAX_CHARACTERS = 10
    assert publish(me, "🌊" * 10)["content"] == f"<p>{'🌊' * 10}</p>"
    answer = me.post(STATUSES, {"status": "🌊" * 11})
    assert answer.status_code == 422
    assert "limit of 10" in answer.json()["error"]


def test_length_of_the_body_is_said(me):
    made = orjson.dumps(publish(me, "字"))
    answer = me.get(f"{STATUSES}/{orjson.loads(made)['id']}")
    assert int(answer["Content-Length"]) == len(answer.content)
