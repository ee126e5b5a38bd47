"""Posts through HTTP, with real tokens, and as Mastodon.py reads them."""

from django.test import Client
from mastodon.return_types import Status
from mastodon.types_base import try_cast

from posts.models import Post
from tests.callers import Caller, assert_refused
from tests.truth import assert_drained_truth

STATUSES = "/api/v1/statuses"


def publish(caller: Caller, text: str = "hello", key: str | None = None, **more: object):
    headers = {"Idempotency-Key": key} if key else {}
    answer = caller.post(STATUSES, {"status": text} | more, **headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_published_post_is_answered_and_read_by_anybody(ann, as_ann, drain):
    sent = {"sensitive": True, "spoiler_text": "careful", "language": "en"}
    made = publish(as_ann, "a < b & 🌊\nnext", **sent)
    assert made["content"] == "<p>a &lt; b &amp; 🌊<br />next</p>"
    assert {name: made[name] for name in sent} == sent
    assert made["account"]["id"] == str(ann)
    assert made["application"] == {"name": "Tests", "website": None}
    made["quote_approval"]["current_user"] = made["reply_approval"]["current_user"] = "denied"
    assert Client().get(f"{STATUSES}/{made['id']}").json() == made
    drain()
    assert_drained_truth()


def test_status_is_one_to_mastodon_py(as_ann):
    made = publish(as_ann)
    status = try_cast(Status, made)
    assert isinstance(status, Status)
    assert (status.id, status.content) == (made["id"], "<p>hello</p>")
    assert status.created_at.utcoffset().total_seconds() == 0
    assert status.account.statuses_count >= 0


def test_key_of_a_post_that_is_deleted_does_not_publish_again(ann, as_ann):
    first = publish(as_ann, key="one")
    as_ann.delete(f"{STATUSES}/{first['id']}")
    answer = as_ann.post(STATUSES, {"status": "hello"}, **{"Idempotency-Key": "one"})
    assert_refused(answer, 410)
    assert "deleted" in answer.json()["error"]
    assert Post.objects.of(ann).count() == 1


def test_deleted_post_is_answered_with_its_text_and_gone(as_ann):
    made = publish(as_ann, "as <typed>")
    deleted = as_ann.delete(f"{STATUSES}/{made['id']}")
    assert (deleted.status_code, deleted.json()["text"]) == (200, "as <typed>")
    assert deleted.json()["id"] == made["id"]
    for answer in (
        as_ann.get(f"{STATUSES}/{made['id']}"),
        as_ann.delete(f"{STATUSES}/{made['id']}"),
    ):
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})


def test_limit_counts_characters(as_ann, settings):
    settings.POST_MAX_CHARACTERS = 10
    assert publish(as_ann, "🌊" * 10)["content"] == f"<p>{'🌊' * 10}</p>"
    answer = as_ann.post(STATUSES, {"status": "🌊" * 11})
    assert answer.status_code == 422
    assert "limit of 10" in answer.json()["error"]
