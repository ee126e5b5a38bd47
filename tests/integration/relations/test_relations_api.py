"""Relations through HTTP, with real tokens."""

from typing import Any

from relations.actions.follow import follow
from relations.queries.edge_lists import FOLLOWERS_LIST
from relations.types import ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.relations.edge_rows import write_list
from tests.people import cast
from tests.truth import assert_drained_truth
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
