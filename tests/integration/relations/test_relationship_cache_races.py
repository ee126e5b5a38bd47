"""Cached relationships equal the rows after concurrent writes and after a process died."""

from functools import partial

import pytest

from infra.caching.client import redis
from infra.caching.viewer_validators import viewer_key
from infra.changes.failpoints import arm, disarm
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.cache import RELATIONSHIPS, relationship_changes
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED, Attribute, Relationship
from tests.dying import Killed, die, dying_at
from tests.integration.relations.relationship_rows import assert_as_the_rows, relationship, writes
from tests.races import failures, run_together
from tests.world import drain_all, make_accounts

ROUNDS = 40


@pytest.fixture
def before_writing():
    """Runs an action once, after a loader read the shard and before it writes the cache."""

    def arm_once(action) -> None:
        def run() -> None:
            disarm("relationships.read")
            action()

        arm("relationships.read", run)

    yield arm_once
    disarm("relationships.read")


@pytest.mark.parametrize("is_known", [False, True])
def test_a_change_while_a_loader_reads_is_not_undone(world, before_writing, is_known):
    me, other = make_accounts(2)
    if is_known:
        mute(me, other)
    before_writing(partial(follow, me, other))
    relationship(me, other)
    assert relationship(me, other).is_followed


def test_a_first_relation_while_the_filter_is_made_is_not_denied(world, before_writing):
    me, friend, new = make_accounts(3)
    follow(me, friend)
    before_writing(partial(follow, me, new))
    assert relationship(me, friend).is_followed
    assert relationship(me, new).is_followed
    redis().call("DEL", RELATIONSHIPS.filter_key(me))
    before_writing(partial(block, new, me))
    relationship(me, friend), relationship(me, 99_999)
    assert relationship(me, new).theirs is Attribute.BLACK


def test_a_change_while_everything_is_lost_is_not_undone(world, before_writing):
    me, other = make_accounts(2)
    before_writing(lambda: (redis().call("FLUSHDB"), follow(me, other)))
    relationship(me, other)
    assert relationship(me, other).is_followed
    before_writing(lambda: (redis().call("FLUSHDB"), unfollow(me, other)))
    redis().call("FLUSHDB")
    relationship(me, other)
    assert relationship(me, other) == UNRELATED


def test_killed_between_the_commit_and_the_cache_the_drain_makes_it_right(world, monkeypatch):
    me, other, muted = make_accounts(3)
    load_relationships(me, [other, muted]), load_relationships(other, [me])
    with monkeypatch.context() as patch:
        patch.setattr("infra.changes.append.inline_consumers_of", lambda kinds: [die])
        patch.setattr("infra.changes.append.wake_commands", lambda *_: die())
        for write in (partial(follow, me, other), partial(mute, me, muted)):
            with pytest.raises(Killed):
                write()
    drain_all()
    assert relationship(me, other).is_followed
    assert relationship(me, muted).is_muted
    assert_as_the_rows(me, other, muted)


@pytest.mark.parametrize(
    ("point", "write"),
    [("relations.mirrored_now", block), ("relations.blocked", block)],
)
def test_killed_between_the_other_side_and_its_cache(world, point, write):
    me, other = make_accounts(2)
    follow(other, me)
    drain_all()
    load_relationships(other, [me]), load_relationships(me, [other])
    with dying_at(point):
        write(me, other)
    drain_all()
    assert relationship(other, me) == Relationship(theirs=Attribute.BLACK)
    assert_as_the_rows(me, other)


def test_a_drain_killed_after_the_rows_refreshes_what_has_no_news_left(world):
    me, fan = make_accounts(2)
    load_relationships(me, [fan])
    follow(fan, me)
    with dying_at("relations.mirrored"):
        drain_all()
    assert relationship(me, fan) == UNRELATED, "the rows are written, nothing was told"
    drain_all()
    assert relationship(me, fan).follows_me


def test_changes_that_come_late_or_twice_change_nothing(world, monkeypatch):
    me, other = make_accounts(2)
    told = []
    monkeypatch.setattr(
        "relations.consumers.relationship_changes",
        lambda pairs: (
            told.append(list(pairs)) or [c for p in told for c in relationship_changes(p)]
        ),
    )
    for write in writes(me, other):
        write()
        assert_as_the_rows(me, other)
    assert len(told) > 10


def test_racing_reads_and_write_end_as_the_rows(world):
    people = make_accounts(3)
    me, bob, eve = people
    for turn in range(ROUNDS):
        names = [RELATIONSHIPS.key(me), RELATIONSHIPS.filter_key(me), viewer_key(me)]
        redis().call("DEL", *names[: 1 + turn % 3])
        calls = [
            partial(load_relationships, me, people),
            partial(load_relationships, me, people),
            partial((follow, unfollow)[turn % 2], me, bob),
            partial((mute, unmute)[turn // 2 % 2], me, eve),
            partial((block, unblock)[turn // 3 % 2], eve, me),
        ]
        assert failures(run_together(calls)) == []
        assert_as_the_rows(*people)
    drain_all()
    assert_as_the_rows(*people)
