"""Relationships from process memory: no value comes from Redis, every change shows at once."""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import orjson
import pytest

from accounts.queries import existing_accounts
from accounts.types import Restriction
from infra.api.errors import TidelineError
from infra.caching.bloom import may_hold
from infra.caching.client import SingleClient, redis
from infra.caching.process_cache import ProcessCache
from infra.caching.viewer_validators import ViewerCopies, viewer_key
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.actions.mute import mute, unmute
from relations.api.present import present_relationships
from relations.cache import RELATIONSHIPS
from relations.queries import in_process_relationships, relationships
from relations.queries.in_process_relationships import load_existing_relationships
from relations.queries.relationships import load_relationships
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import token_of
from tests.disconnected_process import Say
from tests.world import drain_all, make_account, make_accounts, restrict

PATH = "/api/v1/accounts/relationships"


def commands_of(read: Callable[[], object]) -> list[str]:
    """The names of the commands that Redis got."""
    sent: list[str] = []
    run = SingleClient.run

    def noted(self: SingleClient, commands: Sequence[Any]) -> Any:
        sent.extend(command[0] for command in commands)
        return run(self, commands)

    with patch.object(SingleClient, "run", noted):
        read()
    return sent


def warm(me: int, others: Sequence[int]) -> None:
    for _ in range(2):
        load_existing_relationships(me, others)


def test_warm_the_log_and_the_validators_are_all_that_is_read(world: None) -> None:
    me, friend, *others = make_accounts(20)
    follow(me, friend)
    warm(me, [friend, *others])
    with count_calls() as calls:
        assert commands_of(lambda: load_existing_relationships(me, [friend, *others])) == [
            "XRANGE", "HMGET"
        ]  # fmt: skip
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_accounts_outside_the_filter_in_memory_are_not_asked_for(world: None) -> None:
    """Most accounts that a viewer sees for the first time are."""
    me, friend, reader, *others = make_accounts(20)
    follow(me, friend)
    for _ in range(2):  # the first one makes the filter
        in_process_relationships._by_viewer.forget([me])
        load_existing_relationships(me, [friend])
    load_existing_relationships(reader, others)
    data = redis().call("GET", RELATIONSHIPS.filter_key(me))
    unrelated = [one for one in others if not may_hold(data, one)]
    assert len(unrelated) > 10
    for _ in range(2):  # by the filter, then from memory
        commands = commands_of(lambda: load_existing_relationships(me, [*unrelated, friend]))
        assert commands == ["XRANGE", "HMGET"]
    follow(me, unrelated[0])
    assert load_existing_relationships(me, unrelated)[unrelated[0]].is_followed


def test_related_ones_are_read_in_the_same_round_trip(world: None) -> None:
    me, friend, other = make_accounts(3)
    follow(me, friend)
    follow(me, other)
    warm(me, [friend])
    load_existing_relationships(other, [other])
    load_relationships(me, [other])  # now Redis has it, but not this process
    with count_calls() as calls:
        found = load_existing_relationships(me, [other, friend])
    assert (calls.statements, calls.round_trips) == ([], 1)
    assert [one.is_followed for one in found.values()] == [True, True]


def test_ids_without_an_account_are_asked_each_time(world: None) -> None:
    me, unknown = make_account(), 2_000_000_000
    for _ in range(3):
        assert load_existing_relationships(me, [unknown, me]).keys() == {me}


CHANGES: dict[str, Callable[[int, int], object]] = {
    "follow": follow,
    "quiet": lambda me, other: follow(me, other, FollowOptions(quiet=True, special=True)),
    "mute": mute,
    "block": block,
    "blocked": lambda me, other: block(other, me),
    "unblocked": lambda me, other: unblock(other, me),
    "unblock": unblock,
    "unmute": unmute,
    "followed": lambda me, other: (follow(other, me), drain_all()),
    "removed": remove_follower,
    "unfollow": unfollow,
    "suspended": lambda _, other: restrict(other, Restriction.SUSPENDED),
    "restored": lambda _, other: restrict(other, Restriction(0)),
}


def as_the_rows(me: int, others: Sequence[int]) -> Any:
    """The answer by the shards alone."""
    rows = relationships._read(me, others)
    shown = [i for i in others if not _is_suspended(i)]
    return orjson.loads(present_relationships({i: rows[i] for i in shown}, now_ms()))


def _is_suspended(account_id: int) -> bool:
    row = fetch_one(
        shard_of(account_id),
        "SELECT restrictions FROM accounts_account WHERE id = %s",
        [account_id],
    )
    assert row is not None
    return bool(row[0] & Restriction.SUSPENDED)


def test_every_change_shows_at_the_next_read_of_another_process(
    world: None, disconnected: Say
) -> None:
    """That process receives no invalidations, and has all of it in memory."""
    me, *others = make_accounts(4)
    token, path = token_of(me), f"{PATH}?{'&'.join(f'id[]={one}' for one in others)}"

    def shown() -> Any:
        return orjson.loads(disconnected("ask", token, path).partition(" ")[2])

    for name, change in CHANGES.items():
        assert shown() == shown()
        change(me, others[1])
        assert shown() == as_the_rows(me, others), name


def test_random_changes_and_reads_equal_the_rows(world: None) -> None:
    """In between this process loses its memory, or Redis the validators or everything."""
    dice = random.Random(7)
    people = make_accounts(5)
    losses: list[Callable[[int], object]] = [
        lambda me: redis().call("DEL", viewer_key(me)),
        lambda _: redis().call("FLUSHDB"),
        lambda me: in_process_relationships._by_viewer.forget([me]),
        lambda _: existing_accounts._existing.forget_all(),
    ]
    for _ in range(150):
        me, other = dice.sample(people, 2)
        with suppress(TidelineError):  # a follow of a suspended account, or of one that blocks
            dice.choice([*CHANGES.values()])(me, other)
        if dice.random() < 0.2:
            dice.choice(losses)(me)
        for viewer in people:
            asked = dice.sample(people, dice.randint(1, 5))
            found = load_existing_relationships(viewer, asked)
            answer = orjson.loads(present_relationships(found, now_ms()))
            assert answer == as_the_rows(viewer, asked)


def test_a_validator_that_ended_in_between_ends_what_is_in_memory(world: None) -> None:
    me, friend, other = make_accounts(3)
    follow(me, friend)
    warm(me, [friend])
    in_memory = in_process_relationships._by_viewer.peek(me)
    unfollow(me, friend)
    assert in_memory is not None
    in_process_relationships._by_viewer.keep(me, in_memory.validator, in_memory)
    found = load_existing_relationships(me, [friend, other])
    assert not found[friend].is_followed


def test_an_account_suspended_while_it_was_read_is_not_kept(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, other = make_accounts(2)
    warm(me, [me])
    store = ProcessCache.store

    def suspend_first(self: Any, values: Any, asked_at: float) -> None:
        monkeypatch.setattr(ProcessCache, "store", store)
        restrict(other, Restriction.SUSPENDED)
        load_existing_relationships(me, [me])  # reads the log
        store(self, values, asked_at)

    monkeypatch.setattr(ProcessCache, "store", suspend_first)
    load_existing_relationships(me, [other])
    assert load_existing_relationships(me, [other]) == {}


def test_memory_is_bounded(world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one viewer, and of all together. Unrelated accounts are dropped first."""
    me, *others = make_accounts(12)
    friends = others[:3]
    for friend in friends:
        follow(me, friend)
    monkeypatch.setattr(in_process_relationships, "MOST_OF_VIEWER", 4)
    kept = in_process_relationships._by_viewer
    for other in [friends[0], *others[3:], *friends[1:]]:
        load_existing_relationships(me, [other])
        copy = kept.peek(me)
        assert copy is not None
        assert len(copy.by_account) <= 4
    assert set(friends) <= copy.by_account.keys()
    for viewer in others:
        load_existing_relationships(viewer, others[:4])
    weight = sum(in_process_relationships._weigh(copy) for _, copy in kept._copies.values())
    assert kept._copies.current_size() == weight


def test_a_viewer_with_too_many_relationships_keeps_the_last_ones(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, *friends = make_accounts(6)
    for friend in friends:
        follow(me, friend)
    monkeypatch.setattr(in_process_relationships, "MOST_OF_VIEWER", 2)
    few = RELATIONSHIPS._replace(max_pairs=2)  # else the first miss would read all five
    monkeypatch.setattr("relations.queries.relationships.RELATIONSHIPS", few)
    for friend in [*friends, *friends]:
        assert load_existing_relationships(me, [friend])[friend].is_followed
        copy = in_process_relationships._by_viewer.peek(me)
        assert copy is not None
        assert friend in copy.by_account
        assert len(copy.by_account) <= 2


def test_values_weigh_together() -> None:
    copies: ViewerCopies[str] = ViewerCopies("tests.weights", 10, len)
    for viewer_id, value in enumerate(["six of", "more", "eleven no"]):
        copies.keep(viewer_id, b"validator", value)
    assert [copies.has(viewer_id) for viewer_id in range(3)] == [False, False, True]
