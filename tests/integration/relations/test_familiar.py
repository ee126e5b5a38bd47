"""Familiar followers: accounts I follow that also follow another account (R8)."""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST
from relations.queries.familiar import MOST_FAMILIAR, load_familiar_followers
from relations.types import FollowOptions, ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.relations.edge_rows import write_edges
from tests.plans import nodes_of, settle
from tests.world import make_accounts

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
FILL = """
INSERT INTO relations_backwardedge (followee_id, follower_id, attribute, revision, since_ms)
SELECT %s, 1000000 + n, 1, 1, n FROM generate_series(1, %s) n
"""


def test_a_target_with_many_followers_is_looked_up_by_key(world):
    me, x = make_accounts(2)
    mine = [1_000_000 + n * (FANS // BOTH) for n in range(1, BOTH + 1)]
    mine += range(2_000_000, 2_000_000 + FOLLOWEES - BOTH)
    write_edges(FOLLOWING_LIST, me, [ListedAccount(1, other) for other in mine])
    execute(shard_of(x), FILL, (x, FANS))
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
    assert all(n["Actual Rows"] <= BOTH for n in nodes)
