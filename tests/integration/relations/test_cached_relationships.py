"""Relationships from the cache equal the rows; warm they cost one trip and no query."""

import pytest
from prometheus_client import REGISTRY

from infra.caching.bloom import OPEN_FILTER
from infra.caching.client import redis
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from relations.cache import RELATIONSHIPS
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED, Attribute, EdgeFlag, FollowOptions, Relationship
from tests.budgets import count_calls
from tests.integration.relations.relationship_rows import assert_as_the_rows, relationship, writes
from tests.redis_away import redis_away
from tests.world import drain_all, make_account, make_accounts

NONE, FOLLOW, WHISPER, BLACK, *_ = Attribute


def stored(viewer: int) -> int:
    """How many pairs Redis keeps."""
    return redis().call("HLEN", RELATIONSHIPS.key(viewer))


def set_limits(patch, **limits):
    few = RELATIONSHIPS._replace(**limits)
    for module in ("relations.cache", "relations.queries.relationships"):
        patch.setattr(f"{module}.RELATIONSHIPS", few)


@pytest.fixture
def small(monkeypatch):
    """Four relations are too many for a filter here."""
    set_limits(monkeypatch, max_filtered=3)


def make_every_relationship() -> tuple[int, dict[int, Relationship]]:
    me, *others = make_accounts(9)
    followed, quiet, fan, mutual, blocked, blocker, muted, left, unrelated = *others, make_account()
    follow(me, followed, FollowOptions(reposts=False, notify=True))
    follow(me, quiet, FollowOptions(quiet=True, special=True))
    follow(fan, me, FollowOptions(quiet=True))
    follow(me, mutual)
    follow(mutual, me)
    block(me, blocked)
    block(blocker, me)
    mute(me, muted, duration_s=60, hides_notifications=False, clock_ms=lambda: 1_000)
    follow(me, left)
    unfollow(me, left)
    drain_all()
    return me, {
        unrelated: UNRELATED,
        left: UNRELATED,
        muted: Relationship(is_muted=True, muted_until_ms=61_000),
        blocker: Relationship(theirs=BLACK),
        blocked: Relationship(mine=BLACK),
        mutual: Relationship(FOLLOW, theirs=FOLLOW),
        fan: Relationship(theirs=WHISPER),
        quiet: Relationship(WHISPER, EdgeFlag.SPECIAL),
        followed: Relationship(FOLLOW, EdgeFlag.HIDES_REPOSTS | EdgeFlag.NOTIFIES),
        me: UNRELATED,
    }


def test_every_standing_cold_warm_and_without_redis(world):
    me, expected = make_every_relationship()
    for budget in ((2, 3), (0, 1)):  # a miss gets a load token in a round trip
        with count_calls() as calls:
            found = load_relationships(me, expected)
        assert found == expected
        assert list(found) == list(expected), "in the order asked"
        assert (calls.sql.total(), calls.round_trips) == budget
    with redis_away(), count_calls() as calls:
        assert load_relationships(me, expected) == expected
    assert calls.sql.total() == 1


def test_each_is_answered_once_and_no_ids_cost_nothing(world):
    me, bob, eve = make_accounts(3)
    assert list(load_relationships(me, [eve, bob, eve])) == [eve, bob]
    with count_calls() as calls:
        assert load_relationships(me, []) == {}
    assert calls.round_trips == 0


def test_unrelated_accounts_cost_no_key_and_no_query(world):
    me, friend = make_accounts(2)
    follow(me, friend)
    relationship(me, friend)
    assert stored(me) == 1
    unrelated = range(10_000, 10_100)
    with count_calls() as calls:
        found = load_relationships(me, unrelated)
    assert set(found.values()) == {UNRELATED}
    # the filter may be wrong about one in a hundred unrelated accounts, which costs a query
    assert (calls.sql.total(), calls.round_trips) in ((0, 1), (1, 3))
    assert stored(me) <= 1 + 3


@pytest.fixture
def followees(world):
    me, *others = make_accounts(6)
    for other in others:
        follow(me, other)
    return me, others


def queries_of(viewer: int, others: list[int]) -> int:
    with count_calls() as calls:
        assert all(one.is_followed for one in load_relationships(viewer, others).values())
    return calls.sql.total()


def test_all_of_a_viewer_with_few_are_read_at_the_first_miss(followees):
    me, others = followees
    assert queries_of(me, others[:1]) == 2
    assert queries_of(me, others) == 0
    assert_as_the_rows(me, *others)


def test_all_are_read_again_when_only_the_filter_is_left(followees):
    me, others = followees
    queries_of(me, others[:1])
    redis().call("DEL", RELATIONSHIPS.key(me))
    assert queries_of(me, others[:1]) == 2
    assert queries_of(me, others) == 0


def test_a_changed_pair_is_read_alone(followees):
    me, others = followees
    queries_of(me, others)
    mute(me, others[0])
    assert queries_of(me, others[:1]) == 1
    assert stored(me) == 5


def test_a_viewer_with_too_many_for_the_hash_is_read_as_asked(followees, monkeypatch):
    me, others = followees
    set_limits(monkeypatch, max_pairs=6)
    assert queries_of(me, others[:1]) == 2
    assert queries_of(me, others[:2]) == 1
    redis().call("DEL", RELATIONSHIPS.key(me))
    assert queries_of(me, others[:2]) == 1, "the filter says that there are too many"


def test_a_filter_is_kept_for_500_relations_in_a_kilobyte(world):
    me, friend = make_accounts(2)
    follow(me, friend)
    relationship(me, friend)
    redis().call(*RELATIONSHIPS.change_command(me, range(2, 400)))
    assert redis().call("GET", RELATIONSHIPS.filter_key(me)) is None, "made for 33, dropped at 34"
    made = RELATIONSHIPS.make_filter(range(500))
    assert len(made) < 1_000


def test_every_write_shows_at_the_next_read_of_both(world):
    """No drain has run, except where another account's follow must be mirrored."""
    me, other = make_accounts(2)
    for write in writes(me, other):
        load_relationships(me, [other]), load_relationships(other, [me])
        write()
        assert_as_the_rows(me, other)


def test_who_has_too_many_relations_keeps_pairs_and_no_filter(world, small, drain):
    me, *fans = make_accounts(5)
    unrelated = make_account()
    for fan in fans:
        follow(fan, me)
    drain()
    expected = {unrelated: UNRELATED} | dict.fromkeys(fans, Relationship(theirs=FOLLOW))
    assert load_relationships(me, expected) == expected
    assert redis().call("GET", RELATIONSHIPS.filter_key(me)) == OPEN_FILTER
    with count_calls() as calls:
        assert load_relationships(me, expected) == expected
    assert (calls.sql.total(), calls.round_trips) == (0, 1), "the unrelated's pair is kept too"
    follow(unrelated, me)
    drain()
    assert relationship(me, unrelated) == Relationship(theirs=FOLLOW)


def reads(tier: str, outcome: str) -> float:
    labels = {"family": "relations.relationship", "tier": tier, "outcome": outcome}
    return REGISTRY.get_sample_value("tideline_cache_reads_total", labels) or 0


def test_reads_are_counted_by_tier(world, monkeypatch):
    set_limits(monkeypatch, max_pairs=1)
    me, friend, muted, unrelated = make_accounts(4)
    follow(me, friend)
    mute(me, muted)
    relationship(me, friend)
    names = [("redis", "hit"), ("redis", "miss"), ("filter", "hit"), ("filter", "miss")]
    before = [reads(*name) for name in names]
    load_relationships(me, [friend, muted, unrelated])
    assert [reads(*n) - was for n, was in zip(names, before, strict=True)] == [1, 2, 1, 1]
