"""Suggestions: accounts that the viewer's followees follow (R8).

Familiar followers: accounts I follow that also follow another account (R8).
"""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST
from relations.queries.familiar import MOST_FAMILIAR, load_familiar_followers
from relations.suggestions.actions import dismiss as module
from relations.suggestions.queries import suggest
from relations.types import FollowOptions, ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.integration.relations.edge_rows import write_edges
from tests.people import cast
from tests.plans import nodes_of, settle
from tests.world import make_accounts

V1, V2 = "/api/v1/suggestions", "/api/v2/suggestions"
Drain = Callable[[], int]
FILL = """
INSERT INTO relations_forwardedge (follower_id, followee_id, attribute, revision, since_ms)
SELECT %s, 1000000000 + n, 1, 1, n FROM generate_series(1, 5000) n
"""


def suggested(account_id: int, **query: Any) -> list[int]:
    return [int(one) for one in ids_of(Caller(account_id).get(V1, query))]


people = cast(9, follows=2)


def test_those_whom_most_followees_follow_come_first(people: list[int], drain: Drain) -> None:
    me, a, b, x, y, z, *_ = people
    for follower, followee in ((a, x), (a, y), (b, y), (b, z), (a, b), (b, me), (x, z)):
        follow(follower, followee)
    drain()
    assert suggested(me) == [y, x, z]
    assert suggested(me, limit=1) == [y]
    entity = Caller(me).get(V2).json()[0]
    assert (entity["account"]["id"], entity["sources"]) == (str(y), ["friends_of_friends"])
    follow(me, y)
    assert suggested(me) == [x, z]
    update_profile(b, ProfileEdit(hides_collections=True))
    assert suggested(me) == [x], "b hides its followees"
    update_profile(b, ProfileEdit(hides_collections=False))
    unfollow(me, b)
    assert suggested(me) == [b, x]
    assert suggested(z) == []


def test_who_is_never_suggested(people: list[int], drain: Drain) -> None:
    """Besides those that test_who_sees_what.py has."""
    me, a, b, quiet, hidden, shown, *_ = people
    follow(a, quiet, FollowOptions(quiet=True))
    follow(b, hidden)
    follow(b, shown)
    drain()
    assert suggested(me) == [hidden, shown]
    update_profile(hidden, ProfileEdit(is_discoverable=False))
    drain()
    assert suggested(me) == [shown]


def test_a_dismissed_suggestion_does_not_come_back(
    people: list[int], drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, a, _, x, y, z, *_ = people
    for followee in (x, y, z):
        follow(a, followee)
    drain()
    caller = Caller(me)
    for _ in range(2):
        assert caller.delete(f"{V1}/{x}").json() == {}
    assert suggested(me) == [y, z]
    assert caller.delete(f"{V1}/{10**9}").status_code == 404
    # The newest ones count when there are too many.
    monkeypatch.setattr(module, "MOST_DISMISSED", 2)
    for n, account_id in enumerate((y, z)):
        module.dismiss_suggestion(me, account_id, lambda n=n: 2 * 10**12 + n)
    assert suggested(me) == [x]
    module.forget_dismissed(me, y)
    assert sorted(suggested(me)) == [x, y]


def test_the_cost_has_a_limit(
    people: list[int], drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, a, b, *others = people
    for followee in others:
        follow(a, followee)
        follow(b, followee)
    drain()
    caller = Caller(me)
    caller.get(V1)
    with count_calls() as calls:
        assert sorted(map(int, ids_of(caller.get(V1)))) == others
    shards = {shard_of(a), shard_of(b)}
    assert sum(calls.sql.values()) == len(shards) + 1
    assert calls.round_trips <= 5
    monkeypatch.setattr(suggest, "MOST_FRIENDS", 1)
    monkeypatch.setattr(suggest, "MOST_FOLLOWS", 2)
    first = suggest.list_suggestions(me, 1)
    assert len(first) == 2
    assert suggest.list_suggestions(me, 1) == first
    alias = shard_of(a)
    execute(alias, FILL, (a,))
    settle(alias, "relations_forwardedge")
    plan = fetch_all(alias, f"EXPLAIN {suggest.READ}", ([a], 2))
    assert any("forward_follows" in row[0] for row in plan)


PATH = "/api/v1/accounts/familiar_followers"
QUIETLY = FollowOptions(quiet=True)


def familiar(caller, *texts):
    answer = caller.get(PATH, {"id[]": texts})
    assert answer.status_code == 200, answer.content
    return [(int(one["id"]), [int(a["id"]) for a in one["accounts"]]) for one in answer.json()]


def test_familiar_followers_newest_first_for_each_in_the_order_asked(world, drain):
    me, a, b, c, x, y, unrelated = make_accounts(7)
    for followee in (a, b, c):
        follow(me, followee)
    for fan, target in ((a, x), (unrelated, x), (b, x), (c, y), (me, x)):
        follow(fan, target)
    drain()
    assert familiar(Caller(me), y, x, y, unrelated) == [(y, [c]), (x, [b, a]), (unrelated, [])]
    unfollow(b, x)
    unfollow(me, a)
    drain()
    assert familiar(Caller(me), x) == [(x, [])]


def test_quiet_follows_of_others_never_show_and_my_own_do_not_hide(world, drain):
    me, a, b, x = make_accounts(4)
    follow(me, a, QUIETLY)
    follow(me, b)
    follow(a, x)
    follow(b, x, QUIETLY)
    drain()
    assert familiar(Caller(me), x) == [(x, [a])]


def test_blocks_are_no_follows(world, drain):
    me, a, x = make_accounts(3)
    follow(me, a)
    block(a, x)
    drain()
    assert familiar(Caller(me), x) == [(x, [])]


def test_what_is_asked_badly(world):
    (me,) = make_accounts(1)
    caller = Caller(me)
    assert familiar(caller) == []
    assert familiar(caller, "abc", "-1", "", "2000000000", "\x00", me) == [(me, [])]
    assert caller.get(PATH, {"id": [me]}).json() == [{"id": str(me), "accounts": []}]
    assert caller.get(PATH, {"id[]": list(range(1, 42))}).status_code == 422


FANS, FOLLOWEES, BOTH = 60_000, 200, 100
FILL_FAMILIAR = """
INSERT INTO relations_backwardedge (followee_id, follower_id, attribute, revision, since_ms)
SELECT %s, 1000000 + n, 1, 1, n FROM generate_series(1, %s) n
"""


def test_a_target_with_many_followers_is_looked_up_by_key(world):
    me, x = make_accounts(2)
    mine = [1_000_000 + n * (FANS // BOTH) for n in range(1, BOTH + 1)]
    mine += range(2_000_000, 2_000_000 + FOLLOWEES - BOTH)
    write_edges(FOLLOWING_LIST, me, [ListedAccount(1, other) for other in mine])
    execute(shard_of(x), FILL_FAMILIAR, (x, FANS))
    others = [ListedAccount(1_000 + n, 1_000_000 + n) for n in range(20_000)]
    write_edges(FOLLOWERS_LIST, make_accounts(8)[-1], others)
    settle(shard_of(x), "relations_backwardedge")
    load_familiar_followers(me, [x])
    with count_calls() as calls:
        found = load_familiar_followers(me, [x])
    assert found == {x: sorted(mine[:BOTH], reverse=True)[:MOST_FAMILIAR]}
    (statement,) = calls.statements
    nodes = [n for n in nodes_of(statement) if "Scan" in n["Node Type"]]
    names = {n.get("Index Name") for n in nodes if "Index" in n["Node Type"]}
    assert names == {"relations_backwardedge_pkey"}
    assert not [n for n in nodes if n["Node Type"] == "Seq Scan"]
    # Only rows of my followees are read, however many followers there are.
    assert all(n["Actual Rows"] <= BOTH for n in nodes if "Relation Name" in n)
