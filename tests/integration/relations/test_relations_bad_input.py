"""Bad input gets a clear answer in JSON, never a 500, and nothing is written in part."""

import pytest
from django.test import Client

from tests.callers import Caller, assert_refused
from tests.truth import everything_written
from tests.world import make_accounts

ACCOUNTS = "/api/v1/accounts"
WRITES = (
    "follow", "unfollow", "remove_from_followers", "block", "unblock", "mute", "unmute",
)  # fmt: skip
LISTS = ("followers", "following")
# Texts in a path that are no account ids.
NO_IDS = [
    "0", "-1", "2000000000", "2176782336", "4294967296", "9223372036854775808",
    "18446744073709551616", "9" * 400, "abc", "1.0", "0x10", "%00", "1%00", "%F0%9F%8C%8A",
    "%ED%A0%80", "%D9%A3", "..%2F1", "1;DROP", "",
]  # fmt: skip
BAD_CURSORS = [
    "x", "-1", "9" * 41, "z" * 400, "\x00", "0" * 15 + "\x00", "٣" * 15,
    "\U0001f30a", "A" * 15, "%ED%A0%80", "' OR 1=1 --",
]  # fmt: skip
BAD_DURATIONS = [
    -1, "-1", "abc", 1.5, "1e3", 3_162_240_001, 2**63, "9" * 400, True, [60], {"s": 1},
    "\x00", "٣", " 60",
]  # fmt: skip
BAD_LIMITS = ["-1", "abc", "1.5", "9" * 40, "18446744073709551616", "\x00", "٣", "1e3"]


@pytest.fixture
def people(world):
    return make_accounts(2)


@pytest.fixture
def untouched(people):
    """Nothing is written by the whole test."""
    before = everything_written()
    yield
    assert everything_written() == before


@pytest.mark.usefixtures("untouched")
class TestNothingIsWritten:
    @pytest.mark.parametrize("write", WRITES)
    def test_write_on_what_is_no_account(self, me, write):
        for text in NO_IDS:
            assert_refused(me.post(f"{ACCOUNTS}/{text}/{write}"), 404)

    @pytest.mark.parametrize("name", LISTS)
    def test_lists_of_what_is_no_account(self, me, name):
        for text in NO_IDS:
            assert_refused(me.get(f"{ACCOUNTS}/{text}/{name}"), 404)

    @pytest.mark.parametrize("write", ["follow", "block", "mute"])
    def test_write_on_oneself(self, me, people, write):
        assert_refused(me.post(f"{ACCOUNTS}/{people[0]}/{write}"), 403)

    @pytest.mark.parametrize("name", ["quiet", "special", "reblogs", "notify"])
    def test_follow_options_that_are_neither_true_nor_false(self, me, people, name):
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

    @pytest.mark.parametrize("name", LISTS)
    @pytest.mark.parametrize("parameter", ["max_id", "since_id", "min_id"])
    def test_cursors_of_another_list(self, me, people, name, parameter):
        for cursor in BAD_CURSORS:
            path = f"{ACCOUNTS}/{people[0]}/{name}"
            assert_refused(me.get(path, {parameter: cursor}), 422)

    @pytest.mark.parametrize("name", LISTS)
    def test_limits_that_are_none(self, me, people, name):
        for limit in BAD_LIMITS:
            assert_refused(me.get(f"{ACCOUNTS}/{people[0]}/{name}", {"limit": limit}), 422)

    @pytest.mark.parametrize("write", WRITES)
    def test_write_without_a_good_token(self, people, write):
        path = f"{ACCOUNTS}/{people[1]}/{write}"
        assert_refused(Client().post(path), 401)
        assert_refused(Client(headers={"Authorization": "Bearer nonsense"}).post(path), 401)
        assert_refused(Client(headers={"Authorization": "Bearer "}).post(path), 401)

    def test_relationships_without_a_token(self, people):
        assert_refused(Client().get(f"{ACCOUNTS}/relationships", {"id[]": people[1]}), 401)

    @pytest.mark.parametrize("write", WRITES)
    def test_write_with_a_token_that_only_reads(self, people, write):
        assert_refused(Caller(people[0], "read").post(f"{ACCOUNTS}/{people[1]}/{write}"), 403)

    def test_reading_with_a_token_that_only_writes(self, people):
        writer = Caller(people[0], "write")
        assert_refused(writer.get(f"{ACCOUNTS}/relationships", {"id[]": people[1]}), 403)
        assert_refused(writer.get(f"{ACCOUNTS}/{people[0]}/followers"), 403)

    @pytest.mark.parametrize("write", WRITES)
    def test_write_of_an_application_without_a_user(self, people, write):
        assert_refused(Caller(None).post(f"{ACCOUNTS}/{people[1]}/{write}"), 422)

    @pytest.mark.parametrize("write", WRITES)
    def test_wrong_method_for_writes(self, me, people, write):
        for method in ("get", "put", "patch", "delete"):
            answer = getattr(me.client, method)(f"{ACCOUNTS}/{people[1]}/{write}")
            assert_refused(answer, 405)
            assert "POST" in answer["Allow"]

    @pytest.mark.parametrize("name", LISTS)
    def test_wrong_method_for_lists(self, me, people, name):
        for method in ("post", "put", "patch", "delete"):
            answer = getattr(me.client, method)(f"{ACCOUNTS}/{people[1]}/{name}")
            assert_refused(answer, 405)


@pytest.mark.parametrize("write", [write for write in WRITES if write not in ("follow", "mute")])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b"[1]"),
        ("application/json", b'"\\ud800"'),
        ("application/json", b"\xff\xfe"),
        ("text/plain", b"hello"),
        ("application/xml", b"<a/>"),
        ("multipart/form-data", b"no boundary"),
        ("application/json", b"[" * 100_000),
        ("", b"x"),
    ],
)
def test_unneeded_bodies_do_no_harm(me, people, write, content_type, body):
    answer = me.client.post(f"{ACCOUNTS}/{people[1]}/{write}", body, content_type)
    assert answer.status_code in (200, 400, 415), answer.content
    assert answer["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("write", ["follow", "mute"])
def test_bodies_that_cannot_be_read_do_nothing(me, people, write):
    path = f"{ACCOUNTS}/{people[1]}/{write}"
    for content_type, body in [
        ("application/json", b"{"),
        ("application/json", b"[1]"),
        ("application/json", b"\xff\xfe"),
        ("application/json", b"[" * 100_000),
        ("text/plain", b"hello"),
        ("multipart/form-data", b"no boundary"),
    ]:
        assert_refused(me.client.post(path, body, content_type), 400, 415, 422)
    shown = me.get(f"{ACCOUNTS}/relationships", {"id[]": people[1]}).json()
    assert [(one["following"], one["muting"]) for one in shown] == [(False, False)]
