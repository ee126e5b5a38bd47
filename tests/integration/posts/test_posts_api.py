"""Posts through HTTP, with real tokens, and as Mastodon.py reads them.

Bad requests about posts: a clear answer in JSON, never a 500, nothing written by half.
"""

import pytest
from django.test import Client
from mastodon.return_types import Status
from mastodon.types_base import try_cast

from posts.actions.check_draft import MAX_KEY_LENGTH
from posts.ids import LAST
from posts.models import Post
from tests.callers import Caller, assert_refused
from tests.people import cast
from tests.truth import assert_drained_truth, everything_written
from tests.world import publish

STATUSES = "/api/v1/statuses"


def send(caller: Caller, text: str = "hello", key: str | None = None, **more: object):
    headers = {"Idempotency-Key": key} if key else {}
    answer = caller.post(STATUSES, {"status": text} | more, **headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_published_post_is_answered_and_read_by_anybody(ann, as_ann, drain):
    sent = {"sensitive": True, "spoiler_text": "careful", "language": "en"}
    made = send(as_ann, "a < b & 🌊\nnext", **sent)
    assert made["content"] == "<p>a &lt; b &amp; 🌊<br />next</p>"
    assert {name: made[name] for name in sent} == sent
    assert made["account"]["id"] == str(ann)
    assert made["application"] == {"name": "Tests", "website": None}
    made["quote_approval"]["current_user"] = made["reply_approval"]["current_user"] = "denied"
    assert Client().get(f"{STATUSES}/{made['id']}").json() == made
    drain()
    assert_drained_truth()


def test_status_is_one_to_mastodon_py(as_ann):
    made = send(as_ann)
    status = try_cast(Status, made)
    assert isinstance(status, Status)
    assert (status.id, status.content) == (made["id"], "<p>hello</p>")
    assert status.created_at.utcoffset().total_seconds() == 0
    assert status.account.statuses_count >= 0


def test_key_of_a_post_that_is_deleted_does_not_publish_again(ann, as_ann):
    first = send(as_ann, key="one")
    as_ann.delete(f"{STATUSES}/{first['id']}")
    answer = as_ann.post(STATUSES, {"status": "hello"}, **{"Idempotency-Key": "one"})
    assert_refused(answer, 410)
    assert "deleted" in answer.json()["error"]
    assert Post.objects.of(ann).count() == 1


def test_deleted_post_is_answered_with_its_text_and_gone(as_ann):
    made = send(as_ann, "as <typed>")
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
    assert send(as_ann, "🌊" * 10)["content"] == f"<p>{'🌊' * 10}</p>"
    answer = as_ann.post(STATUSES, {"status": "🌊" * 11})
    assert answer.status_code == 422
    assert "limit of 10" in answer.json()["error"]


NO_IDS = [
    "0" * 14, LAST.base36, LAST.public, str(36**14), "9" * 400, "0" * 13, "0" * 15, "1", "-1",
    "18446744073709551616", "z" * 400, "0x" + "1" * 13,
    "0000010000020Z", "%00" * 14, "0000010000020%00", "%F0%9F%8C%8A", "%ED%A0%80" * 14, "+" * 14,
    "0000010000020٣", "..%2F1",
]  # fmt: skip
BAD_FORMS = [
    {}, {"status": ""}, {"status": " \n "}, {"status": None}, {"status": "x" * 501},
    {"status": "a\x00b"}, {"status": 7}, {"status": ["a"]}, {"status": {"a": 1}},
    {"status": "ok", "spoiler_text": "\x00"}, {"status": "ok", "spoiler_text": "x" * 500},
    {"status": "ok", "language": "x" * 40}, {"status": "ok", "language": 3},
    {"status": "ok", "language": 'a"b'}, {"status": "ok", "language": " "},
    {"status": "ok", "language": "../../etc/pass"}, {"status": "ok", "language": "e\u202en"},
    {"status": "ok", "visibility": "mine"}, {"status": "ok", "media_ids": ["1"]},
    {"status": "ok", "poll": {"options": ["a"]}}, {"status": "", "in_reply_to_id": ""},
    {"status": "ok", "scheduled_at": "tomorrow"},
]  # fmt: skip
FORM = "application/x-www-form-urlencoded"


people = cast(2)


@pytest.fixture
def post_id(people):
    return publish(people[0])


@pytest.fixture
def untouched(post_id):
    """Nothing is written by the whole test."""
    before = everything_written()
    yield
    assert everything_written() == before


@pytest.mark.usefixtures("untouched")
class TestNothingIsWritten:
    def test_forms(self, me):
        for form in BAD_FORMS:
            assert_refused(me.post(STATUSES, form), 422)

    def test_bodies(self, me):
        for kind, body in ((FORM, b"status=a%00b"), (FORM, b"status=%ED%A0%80%00"), ("", b"x")):
            assert_refused(me.client.post(STATUSES, body, kind), 400, 415, 422)

    def test_keys(self, me):
        for key in ["k" * (MAX_KEY_LENGTH + 1), "a\x00b", "\udc80"]:
            assert_refused(me.post(STATUSES, {"status": "ok"}, **{"Idempotency-Key": key}), 422)

    def test_replying_to_what_is_no_post(self, me):
        for parent in [*NO_IDS, 7, str(2**64), {"a": 1}, ["0" * 14], "a\x00b", "\U0001f30a" * 14]:
            assert_refused(me.post(STATUSES, {"status": "ok", "in_reply_to_id": parent}), 404)

    def test_reposting_for_fewer_than_everybody(self, me, post_id):
        path = f"{STATUSES}/{post_id.public}/reblog"
        for visibility in ("private", "direct", 7, ["public"]):
            assert_refused(me.post(path, {"visibility": visibility}), 422)
