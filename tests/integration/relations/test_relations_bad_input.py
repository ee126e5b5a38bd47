"""Bad input gets a clear answer in JSON, never a 500, and nothing is written in part."""

import pytest

from tests.callers import assert_refused
from tests.people import cast
from tests.truth import everything_written

ACCOUNTS = "/api/v1/accounts"
WRITES = (
    "follow", "unfollow", "remove_from_followers", "block", "unblock", "mute", "unmute",
)  # fmt: skip
BAD_DURATIONS = [
    -1, "-1", "abc", 1.5, "1e3", 3_162_240_001, 2**63, "9" * 400, True, [60], {"s": 1},
    "\x00", "٣", " 60",
]  # fmt: skip


people = cast(2)


@pytest.fixture
def untouched(people):
    """Nothing is written by the whole test."""
    before = everything_written()
    yield
    assert everything_written() == before


@pytest.mark.usefixtures("untouched")
class TestNothingIsWritten:
    def test_write_on_oneself(self, me, people):
        for write in ["follow", "block", "mute"]:
            assert_refused(me.post(f"{ACCOUNTS}/{people[0]}/{write}"), 403)

    def test_follow_options_that_are_neither_true_nor_false(self, me, people):
        for name in ["quiet", "special", "reblogs", "notify"]:
            for value in ([], {}, [True], 1.5, {"a": 1}):
                assert_refused(me.post(f"{ACCOUNTS}/{people[1]}/follow", {name: value}), 422)

    def test_mutes_for_what_is_no_time(self, me, people):
        path = f"{ACCOUNTS}/{people[1]}/mute"
        for duration in BAD_DURATIONS:
            answer = me.post(path, {"duration": duration})
            assert_refused(answer, 422)
            assert "duration" in answer.json()["error"]
        assert_refused(me.post(path, {"notifications": [False]}), 422)
        assert me.get("/api/v1/mutes").json() == []


def test_unneeded_bodies_do_no_harm(me, people):
    for content_type, body in [
        ("application/json", b"{"),
        ("application/json", b"[1]"),
        ("application/json", b'"\\ud800"'),
        ("application/json", b"\xff\xfe"),
        ("text/plain", b"hello"),
        ("application/xml", b"<a/>"),
        ("multipart/form-data", b"no boundary"),
        ("application/json", b"[" * 100_000),
        ("", b"x"),
    ]:
        for write in [write for write in WRITES if write not in ("follow", "mute")]:
            answer = me.client.post(f"{ACCOUNTS}/{people[1]}/{write}", body, content_type)
            assert answer.status_code in (200, 400, 415), answer.content
            assert answer["Content-Type"].startswith("application/json"), (
                write,
                content_type,
                body,
            )
