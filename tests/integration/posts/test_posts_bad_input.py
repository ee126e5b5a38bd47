"""Bad requests about posts: a clear answer in JSON, never a 500, nothing written by half."""

import pytest
from django.test import Client

from posts.actions.check_draft import MAX_KEY_LENGTH
from posts.ids import LAST
from tests.callers import Caller, assert_refused
from tests.truth import everything_written
from tests.world import make_accounts, publish

STATUSES = "/api/v1/statuses"
NO_IDS = [
    "0" * 14, LAST.base36, LAST.public, str(36**14), "9" * 400, "0" * 13, "0" * 15, "1", "-1",
    "18446744073709551616", "z" * 400, "0x" + "1" * 13,
    "0000010000020Z", "%00" * 14, "0000010000020%00", "%F0%9F%8C%8A", "%ED%A0%80" * 14, "+" * 14,
    "0000010000020٣", "..%2F1",
]  # fmt: skip
ACTS = ["reblog", "unreblog", "favourite", "unfavourite", "bookmark", "unbookmark"]
PARTS = ["context", "reblogged_by", "favourited_by"]
BAD_FORMS = [
    {}, {"status": ""}, {"status": " \n "}, {"status": None}, {"status": "x" * 501},
    {"status": "a\x00b"}, {"status": 7}, {"status": ["a"]}, {"status": {"a": 1}},
    {"status": "ok", "spoiler_text": "\x00"}, {"status": "ok", "spoiler_text": "x" * 500},
    {"status": "ok", "language": "x" * 40}, {"status": "ok", "language": 3},
    {"status": "ok", "visibility": "mine"}, {"status": "ok", "media_ids": ["1"]},
    {"status": "ok", "poll": {"options": ["a"]}}, {"status": "", "in_reply_to_id": ""},
    {"status": "ok", "scheduled_at": "tomorrow"},
]  # fmt: skip
BAD_BODIES = [
    ("application/json", b"{"),
    ("application/json", b"[]"),
    ("application/json", b"7"),
    ("application/json", b'{"status": "\\ud800"}'),
    ("application/json", b'{"status": "\xff"}'),
    ("application/json", b'{"status": NaN}'),
    ("application/json", b"[" * 200_000),
    ("text/plain", b"hello"),
    ("application/xml", b"<status/>"),
    ("application/json; charset=utf-16", b'{"status": "hello"}'),
    ("multipart/form-data", b"no boundary"),
    ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
    ("application/x-www-form-urlencoded", b"status=a%00b"),
    ("application/x-www-form-urlencoded", b"status=%ED%A0%80%00"),
    ("", b"x"),
]


@pytest.fixture
def people(world):
    return make_accounts(2)


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
    @pytest.mark.parametrize("form", BAD_FORMS)
    def test_forms(self, me, form):
        assert_refused(me.post(STATUSES, form), 422)

    @pytest.mark.parametrize(("content_type", "body"), BAD_BODIES)
    def test_bodies(self, me, content_type, body):
        assert_refused(me.client.post(STATUSES, body, content_type), 400, 415, 422)

    def test_too_large_a_body(self, me, settings):
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
        body = b'{"status": "%s"}' % (b"x" * 2_000)
        assert_refused(me.client.post(STATUSES, body, "application/json"), 413)

    @pytest.mark.parametrize("key", ["k" * (MAX_KEY_LENGTH + 1), "a\x00b", "\udc80"])
    def test_keys(self, me, key):
        assert_refused(me.post(STATUSES, {"status": "ok"}, **{"Idempotency-Key": key}), 422)

    def test_reading_and_deleting_what_is_no_post(self, me):
        for text in NO_IDS:
            assert_refused(me.get(f"{STATUSES}/{text}"), 404)
            assert_refused(me.delete(f"{STATUSES}/{text}"), 404)

    def test_doing_something_with_what_is_no_post(self, me):
        for text in NO_IDS:
            for act in ACTS:
                assert_refused(me.post(f"{STATUSES}/{text}/{act}"), 404)
            for part in PARTS:
                assert_refused(me.get(f"{STATUSES}/{text}/{part}"), 404)

    def test_replying_to_what_is_no_post(self, me):
        for parent in [*NO_IDS, 7, str(2**64), {"a": 1}, ["0" * 14], "a\x00b", "\U0001f30a" * 14]:
            assert_refused(me.post(STATUSES, {"status": "ok", "in_reply_to_id": parent}), 404)

    def test_reposting_for_fewer_than_everybody(self, me, post_id):
        path = f"{STATUSES}/{post_id.public}/reblog"
        for visibility in ("private", "direct", 7, ["public"]):
            assert_refused(me.post(path, {"visibility": visibility}), 422)

    def test_cursors_that_are_none_of_these_lists(self, me, post_id):
        paths = ["/api/v1/favourites", "/api/v1/bookmarks"]
        paths += [f"{STATUSES}/{post_id.public}/{part}" for part in PARTS[1:]]
        for path in paths:
            for name in ("max_id", "min_id", "since_id"):
                for cursor in ("x", "-1", "Z" * 15, "\u00e9" * 23, "-" * 15, "9" * 41):
                    assert_refused(me.get(path, {name: cursor}), 422)
            assert_refused(me.get(path, {"limit": "many"}), 422)

    def test_acts_without_a_good_token_or_scope(self, people, post_id):
        for act in ACTS:
            path = f"{STATUSES}/{post_id.public}/{act}"
            assert_refused(Client().post(path), 401)
            assert_refused(Caller(people[0], "read").post(path), 403)
            assert_refused(Caller(None).post(path), 422)
        for path in ("/api/v1/favourites", "/api/v1/bookmarks"):
            assert_refused(Client().get(path), 401)
            assert_refused(Caller(people[0], "follow").get(path), 403)

    def test_without_a_good_token(self, post_id):
        for client in (Client(), Client(headers={"Authorization": "Bearer nonsense"})):
            assert_refused(client.post(STATUSES, {"status": "ok"}), 401)
            assert_refused(client.delete(f"{STATUSES}/{post_id.public}"), 401)

    def test_with_a_token_of_other_scopes(self, people, post_id):
        reader, follower = Caller(people[0], "read"), Caller(people[0], "follow")
        for caller in (reader, follower):
            assert_refused(caller.post(STATUSES, {"status": "ok"}), 403)
            assert_refused(caller.delete(f"{STATUSES}/{post_id.public}"), 403)
        assert_refused(follower.get(f"{STATUSES}/{post_id.public}"), 403)

    def test_of_an_application_without_a_user(self, post_id):
        assert_refused(Caller(None).post(STATUSES, {"status": "ok"}), 422)
        assert_refused(Caller(None).delete(f"{STATUSES}/{post_id.public}"), 422)

    def test_deleting_what_is_somebody_elses(self, people, post_id):
        assert_refused(Caller(people[1]).delete(f"{STATUSES}/{post_id.public}"), 404)

    def test_wrong_methods(self, me, post_id):
        for method in ("put", "patch", "delete"):
            assert_refused(getattr(me.client, method)(STATUSES), 405)
        for method in ("patch", "post"):
            answer = getattr(me.client, method)(f"{STATUSES}/{post_id.public}")
            assert_refused(answer, 405)
            assert "DELETE" in answer["Allow"]
