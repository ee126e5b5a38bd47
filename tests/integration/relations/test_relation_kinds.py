"""Rows of a kind that no code knows are ignored: each statement names the kind it means."""

import pytest

from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from counters.verbs import RecountCounters
from infra.api.pages import Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.queries.edge_lists import (
    BLOCKS_LIST,
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    OWN_FOLLOWERS_LIST,
    OWN_FOLLOWING_LIST,
    QUIET_LIST,
    EdgeList,
    list_page,
)
from relations.queries.edge_rows import muted_at
from relations.queries.familiar import load_familiar_followers
from relations.queries.followers import iter_followers, list_bounds
from relations.queries.following import load_following
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED
from relations.verbs import AuditEdges, BackfillBackwardEdges
from tests.integration.jobs.outcomes import Outcome
from tests.world import make_accounts

OTHER_KIND = 7
EDGES = """
INSERT INTO relations_{side}edge (follower_id, followee_id, kind, attribute, revision, since_ms)
SELECT %s, %s, %s, attribute, 1, 1 FROM unnest(%s::smallint[]) AS edge (attribute)
"""
MUTE = """
INSERT INTO relations_muted
    (owner_id, target_id, kind, is_on, hides_notifications, revision, since_ms, until_ms)
VALUES (%s, %s, %s, true, true, 1, 1, 0)
"""
LISTS = (
    FOLLOWING_LIST, OWN_FOLLOWING_LIST, FOLLOWERS_LIST, OWN_FOLLOWERS_LIST, QUIET_LIST,
    BLOCKS_LIST, EdgeList(muted_at(1_000)),
)  # fmt: skip


def write_of_other_kind(one: int, other: int, attribute: int) -> None:
    """An edge both ways, on both sides, and a mute."""
    for follower, followee in ((one, other), (other, one)):
        for side, owner in (("forward", follower), ("backward", followee)):
            params = (follower, followee, OTHER_KIND, [attribute])
            execute(shard_of(owner), EDGES.format(side=side), params)
    execute(shard_of(one), MUTE, (one, other, OTHER_KIND))


def members(edge_list, account_id: int) -> list[int]:
    return [item.account_id for item in list_page(edge_list, account_id, Window(80)).items]


def rows_of_other_kind(account_id: int) -> list[tuple[int, ...]]:
    sql = (
        "SELECT attribute, revision FROM relations_forwardedge WHERE follower_id = %s AND kind > 0"
    )
    return fetch_all(shard_of(account_id), sql, [account_id])


@pytest.mark.parametrize("attribute", [1, 2, 3])
def test_no_read_shows_them(world, attribute):
    ann, bob, cat = make_accounts(3)
    write_of_other_kind(ann, bob, attribute)
    assert [members(edge_list, ann) for edge_list in LISTS] == [[]] * len(LISTS)
    assert load_relationships(ann, [bob, cat]) == {bob: UNRELATED, cat: UNRELATED}
    assert load_following(ann).followee_ids == []
    assert [*iter_followers(ann)] == list_bounds(ann, None, 1, 5) == []
    follow(cat, ann)
    assert load_familiar_followers(cat, [bob]) == {bob: []}


@pytest.mark.parametrize("attribute", [1, 3])
def test_writes_leave_them_alone(world, drain, attribute):
    ann, bob = make_accounts(2)
    write_of_other_kind(ann, bob, attribute)
    assert follow(ann, bob)
    mute(ann, bob)
    drain()
    assert load_relationships(ann, [bob])[bob].is_followed
    assert members(FOLLOWERS_LIST, bob) == [ann]
    assert unfollow(ann, bob)
    assert unmute(ann, bob)
    drain()
    assert load_relationships(ann, [bob]) == {bob: UNRELATED}
    assert rows_of_other_kind(ann) == [(attribute, 1)]
    assert not load_counts([ann])[ann][CounterKind.FOLLOWING].value


def test_jobs_leave_them_alone(world, drain):
    ann, bob, cat = make_accounts(3)
    follow(ann, cat)
    drain()
    write_of_other_kind(ann, bob, 1)
    for job in (AuditEdges, BackfillBackwardEdges, RecountCounters):
        outcome = Outcome(job())
        assert (outcome.code, outcome.out.count("\n")) == (0, 1), outcome.out
    assert rows_of_other_kind(ann) == [(1, 1)]
