"""Relations through HTTP, with real tokens.

Follow with options, block and mute through HTTP, with real tokens.

Bad input gets a clear answer in JSON, never a 500, and nothing is written in part.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from relations.actions.follow import follow
from relations.queries.edge_lists import FOLLOWERS_LIST
from relations.types import ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused, ids_of
from tests.integration.relations.edge_rows import write_list
from tests.people import cast
from tests.truth import assert_drained_truth, everything_written
from tests.world import make_accounts

ACCOUNTS = "/api/v1/accounts"
NO_RELATION: dict[str, Any] = {
    "following": False, "showing_reblogs": False, "notifying": False, "languages": None,
    "followed_by": False, "blocking": False, "blocked_by": False, "muting": False,
    "muting_notifications": False, "requested": False, "requested_by": False,
    "domain_blocking": False, "endorsed": False, "note": "", "muting_expires_at": None,
    "quiet_following": False, "special": False, "mutual": False,
}  # fmt: skip


people = cast(4)


def relation(account_id: int, **known: bool) -> dict[str, Any]:
    return NO_RELATION | {"id": str(account_id)} | known


def relationships(caller: Caller, *texts: object) -> list[dict[str, Any]]:
    answer = caller.get(f"{ACCOUNTS}/relationships", {"id[]": texts})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_follow_unfollow_and_remove_answer_with_the_relation_after(people, me, drain):
    ann, bob, *_ = people
    followed = relation(bob, following=True, showing_reblogs=True)
    for _ in range(2):
        assert me.post(f"{ACCOUNTS}/{bob}/follow").json() == followed
    drain()
    assert relationships(Caller(bob), ann) == [relation(ann, followed_by=True)]
    removed = Caller(bob).post(f"{ACCOUNTS}/{ann}/remove_from_followers")
    assert removed.json() == relation(ann)
    me.post(f"{ACCOUNTS}/{bob}/follow")
    for _ in range(2):
        assert me.post(f"{ACCOUNTS}/{bob}/unfollow").json() == relation(bob)
    drain()
    assert_drained_truth()


def test_relationships_keep_the_order_and_name_everybody_once(people, me):
    ann, bob, eve, joe = people
    follow(ann, eve)
    asked = [joe, eve, joe, bob, eve]
    assert [r["id"] for r in relationships(me, *asked)] == [str(joe), str(eve), str(bob)]
    assert relationships(me, ann, eve) == [
        relation(ann),
        relation(eve, following=True, showing_reblogs=True),
    ]


def test_relationships_leave_out_ids_without_an_account(people, me):
    odd = ["", "0", "-1", "abc", "1e3", "٣", "\x00", 2**31, 2**64, 2_000_000_000, "0x1", " 1"]
    assert relationships(me, *odd) == []
    assert [r["id"] for r in relationships(me, *odd, people[1])] == [str(people[1])]


def test_relationships_without_ids_are_none(me):
    assert me.get(f"{ACCOUNTS}/relationships").json() == []


def test_relationships_by_the_plain_name_of_the_parameter(people, me):
    answer = me.get(f"{ACCOUNTS}/relationships", {"id": [people[2], people[1]]})
    assert ids_of(answer) == [str(people[2]), str(people[1])]


def test_a_hundred_relationships_are_answered_and_one_more_is_refused(me):
    others = make_accounts(101)
    assert len(relationships(me, *others[:100])) == 100
    with count_calls() as calls:
        relationships(me, *others[:100])
    assert (calls.sql.total(), calls.round_trips) == (0, 1)
    answer = me.get(f"{ACCOUNTS}/relationships", {"id[]": others})
    assert answer.status_code == 422
    assert "100" in answer.json()["error"]


def test_newer_followers_are_found_by_the_link_before(people, drain):
    ann, bob, eve, joe = people
    follow(bob, ann)
    drain()
    caller = Caller(ann)
    before = caller.get(f"{ACCOUNTS}/{ann}/followers")["Link"]
    follow(eve, ann)
    follow(joe, ann)
    drain()
    newer = before[before.index("http://localhost:8000") + 21 : before.index(">")]
    assert ids_of(caller.get(newer)) == [str(joe), str(eve)]


def test_lists_carry_whole_accounts(people, drain):
    ann, bob, *_ = people
    follow(ann, bob)
    drain()
    (shown,) = Caller(ann).get(f"{ACCOUNTS}/{ann}/following").json()
    assert shown == Caller(ann).get(f"{ACCOUNTS}/{bob}").json()
    assert shown["followers_count"] == 1


def test_page_sizes(people, me):
    fans = make_accounts(85)
    write_list(FOLLOWERS_LIST, people[0], [ListedAccount(n, fan) for n, fan in enumerate(fans)])
    path = f"{ACCOUNTS}/{people[0]}/followers"
    sizes = {"": 40, "?limit=1": 1, "?limit=0": 1, "?limit=80": 80, "?limit=999999999": 80}
    assert {query: len(ids_of(me.get(path + query))) for query in sizes} == sizes


HOUR_S = 3_600


def write(caller, target, name, body=None):
    answer = caller.post(f"{ACCOUNTS}/{target}/{name}", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def how(relation):
    names = ("following", "quiet_following", "special", "showing_reblogs", "notifying")
    return tuple(relation[name] for name in names)


def test_each_option_changes_that_one_only(people, me, drain):
    _, bob, *_ = people
    assert how(write(me, bob, "follow")) == (True, False, False, True, False)
    assert how(write(me, bob, "follow", {"special": True})) == (True, False, True, True, False)
    assert how(write(me, bob, "follow", {"quiet": True})) == (True, True, True, True, False)
    assert how(write(me, bob, "follow", {"notify": True})) == (True, True, True, True, True)
    assert how(write(me, bob, "follow", {"reblogs": False})) == (True, True, True, False, True)
    assert how(write(me, bob, "follow", {"special": False})) == (True, True, False, False, True)
    assert how(write(me, bob, "follow")) == (True, True, False, False, True)
    assert how(write(me, bob, "follow", {"quiet": False})) == (True, False, False, False, True)
    drain()
    assert_drained_truth()


def test_all_options_of_a_new_follow_at_once(people, me):
    wish = {"quiet": True, "special": True, "reblogs": False, "notify": True, "languages": []}
    assert how(write(me, people[1], "follow", wish)) == (True, True, True, False, True)
    assert how(write(me, people[1], "unfollow")) == (False, False, False, False, False)
    assert how(write(me, people[1], "follow")) == (True, False, False, True, False)


@pytest.mark.parametrize("sent", [["english language"], ["e"], ["en\n"], ["en,de"], ["x" * 17]])
def test_what_is_no_language_is_refused(people, me, sent):
    answer = me.post(f"{ACCOUNTS}/{people[1]}/follow", {"languages": sent})
    assert (answer.status_code, "languages" in answer.json()["details"]) == (422, True)
    many = [f"aa-{n:04d}" for n in range(41)]
    assert me.post(f"{ACCOUNTS}/{people[1]}/follow", {"languages": many}).status_code == 422
    [shown] = me.get(f"{ACCOUNTS}/relationships?id={people[1]}").json()
    assert (shown["following"], shown["languages"]) == (False, None)


def test_block_ends_both_follows_and_forbids_new_ones(people, me, drain):
    ann, bob, *_ = people
    follow(ann, bob)
    follow(bob, ann)
    drain()
    for _ in range(2):
        relation = write(me, bob, "block")
        assert (relation["blocking"], relation["following"], relation["followed_by"]) == (
            (True, False, False)
        )
    assert me.post(f"{ACCOUNTS}/{bob}/follow").status_code == 403
    assert Caller(bob).post(f"{ACCOUNTS}/{ann}/follow").status_code == 403
    for _ in range(2):
        assert write(me, bob, "unblock")["blocking"] is False
    assert write(me, bob, "follow")["following"] is True
    drain()
    assert_drained_truth()


def test_mute_with_and_without_an_end(people, me):
    _, bob, eve, _ = people
    for _ in range(2):
        relation = write(me, bob, "mute")
        assert (relation["muting"], relation["muting_notifications"]) == (True, True)
    before = datetime.now(UTC).timestamp()
    body = {"duration": HOUR_S, "notifications": False}
    relation = write(me, eve, "mute", body)
    assert (relation["muting"], relation["muting_notifications"]) == (True, False)
    shown = {a["id"]: a["mute_expires_at"] for a in me.get("/api/v1/mutes").json()}
    assert shown[str(bob)] is None
    expires_at = datetime.fromisoformat(shown[str(eve)]).timestamp()
    assert before + HOUR_S - 1 <= expires_at <= before + HOUR_S + 60
    for _ in range(2):
        assert write(me, bob, "unmute")["muting"] is False
    assert [a["id"] for a in me.get("/api/v1/mutes").json()] == [str(eve)]


WRITES = (
    "follow", "unfollow", "remove_from_followers", "block", "unblock", "mute", "unmute",
)  # fmt: skip
BAD_DURATIONS = [
    -1, "-1", "abc", 1.5, "1e3", 3_162_240_001, 2**63, "9" * 400, True, [60], {"s": 1},
    "\x00", "٣", " 60",
]  # fmt: skip


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
