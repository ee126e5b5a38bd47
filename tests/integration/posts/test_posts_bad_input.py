"""Bad requests about posts: a clear answer in JSON, never a 500, nothing written by half."""

import pytest

from posts.actions.check_draft import MAX_KEY_LENGTH
from posts.ids import LAST
from tests.callers import assert_refused
from tests.people import cast
from tests.truth import everything_written
from tests.world import publish

STATUSES = "/api/v1/statuses"
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
