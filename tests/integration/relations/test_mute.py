"""Mutes hold at the next read, end by themselves, and are visible to the owner only."""

from typing import Any

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.follow import follow
from relations.actions.mute import READ, mute, unmute
from relations.queries.relationships import load_relationships
from relations.types import NO_MUTE, Mute
from tests.truth import assert_drained_truth
from tests.world import make_accounts


def row(owner_id: int, target_id: int) -> Mute:
    found = fetch_one(shard_of(owner_id), READ, (owner_id, target_id))
    return Mute(*found) if found else NO_MUTE


def at(moment_ms: int) -> Any:
    return lambda: moment_ms


def test_rows_of_a_mute_through_its_life(world):
    me, other = make_accounts(2)
    mute(me, other, clock_ms=at(1_000))
    assert row(me, other) == Mute(True, True, 1, 1_000, 0)
    mute(me, other, duration_s=5, hides_notifications=False, clock_ms=at(2_000))
    assert row(me, other) == Mute(True, False, 2, 1_000, 7_000), "it goes on, with another end"
    mute(me, other, clock_ms=at(9_000))
    assert row(me, other) == Mute(True, True, 3, 9_000, 0), "it had ended, and begins again"
    assert unmute(me, other)
    assert row(me, other) == Mute(False, True, 4, 9_000, 0)
    assert not unmute(me, other)


def test_a_mute_changes_no_follow_and_no_count(world, drain):
    me, other = make_accounts(2)
    follow(me, other)
    follow(other, me)
    mute(me, other)
    drain()
    assert load_relationships(me, [other])[other][:3] == load_relationships(other, [me])[me][:3]
    assert_drained_truth()
