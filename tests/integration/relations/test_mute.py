"""Mutes hold at the next read, end by themselves, and are visible to the owner only."""

from typing import Any

import pytest

from accounts.errors import AccountNotFound
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.follow import follow
from relations.actions.mute import READ, mute, unmute
from relations.errors import CannotMuteSelf
from relations.queries.relationships import load_relationships
from relations.types import NO_MUTE, UNRELATED, Mute, Relationship
from tests.callers import Caller
from tests.truth import assert_drained_truth
from tests.world import make_accounts

ACCOUNTS = "/api/v1/accounts"


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


def test_a_mute_shows_at_the_next_read_and_so_does_its_end(world):
    me, other = make_accounts(2)
    assert load_relationships(me, [other])[other] == UNRELATED
    mute(me, other)
    assert load_relationships(me, [other])[other] == Relationship(is_muted=True, mutes_notices=True)
    unmute(me, other)
    assert load_relationships(me, [other])[other] == UNRELATED


def test_who_cannot_be_muted(world):
    (me,) = make_accounts(1)
    with pytest.raises(CannotMuteSelf):
        mute(me, me)
    with pytest.raises(AccountNotFound):
        mute(me, 999_999)
    assert not unmute(me, 999_999)


def test_a_mute_changes_no_follow_and_no_count(world, drain):
    me, other = make_accounts(2)
    follow(me, other)
    follow(other, me)
    mute(me, other)
    drain()
    assert load_relationships(me, [other])[other][:3] == load_relationships(other, [me])[me][:3]
    assert_drained_truth()


def everything_shown_to(caller: Caller, others: list[int]) -> list[bytes]:
    paths = [f"{ACCOUNTS}/{other}{tail}" for other in others for tail in ("", "/followers")]
    paths += [f"{ACCOUNTS}/{other}/following" for other in others]
    answers = [caller.get(path) for path in paths]
    answers.append(caller.get(f"{ACCOUNTS}/relationships", {"id[]": others}))
    answers.append(caller.post(f"{ACCOUNTS}/followed_by", {"id": list(map(str, others))}))
    return [answer.content for answer in answers]


def test_only_the_muting_account_sees_the_mute(world, drain):
    me, other, third = make_accounts(3)
    follow(me, other)
    follow(other, me)
    drain()
    callers = [Caller(other), Caller(third)]
    people = [me, other, third]
    before = [everything_shown_to(caller, people) for caller in callers]
    mute(me, other, duration_s=60)
    drain()
    assert [everything_shown_to(caller, people) for caller in callers] == before
    redis().call("FLUSHDB")
    assert [everything_shown_to(caller, people) for caller in callers] == before
