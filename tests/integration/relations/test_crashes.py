"""Deaths in the middle of blocks, of switches between open and quiet, and of counted follows.

Before the commit a dying request leaves nothing, after it a change row. Only the drain repairs, and
each test lets nothing else run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import DataError

from infra.changes.append import ChangeColumns
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from relations.actions import write_edge as write_edge_module
from relations.actions.block import block, unblock
from relations.actions.follow import follow
from relations.changes import EdgeChanged
from relations.models import FollowDay
from relations.types import Attribute, FollowOptions
from tests.cached_lists import LISTS, assert_cached_lists_agree, cached_members, write_lists
from tests.contradictions import assert_no_contradiction, shown_to
from tests.dying import Killed, die, dying_at
from tests.integration.timelines.homes import first_page
from tests.truth import assert_drained_truth, counts, forward_edges, live_pairs
from tests.world import make_accounts, publish

QUIET, OPEN = FollowOptions(quiet=True), FollowOptions(quiet=False)
INLINE_CONSUMERS = "infra.changes.append.inline_consumers_of"


@contextmanager
def dying_in_consumers(monkeypatch: pytest.MonkeyPatch, commits: int) -> Iterator[None]:
    """Dies at the first inline consumer after so many commits: committed, and nothing delivered."""
    seen = 0

    def count(kind: str) -> list[Callable[..., None]]:
        nonlocal seen
        seen += 1
        return [die] if seen == commits else []

    with monkeypatch.context() as patch:
        patch.setattr(INLINE_CONSUMERS, count)
        with pytest.raises(Killed):
            yield


@pytest.fixture
def mutual(world, drain) -> tuple[int, int]:
    """Two accounts on different shards that follow each other, with all pages cached."""
    people = make_accounts(12)
    a, b = next((a, b) for a in people for b in people if shard_of(a) != shard_of(b))
    follow(a, b)
    follow(b, a)
    for account in (a, b):
        publish(account)
    drain()
    for account in (a, b):
        assert len(first_page(account)) == 2
        write_lists(account)
    return a, b


def assert_block_stands(a: int, b: int) -> None:
    assert_drained_truth()
    assert_cached_lists_agree([a, b])
    assert live_pairs() == set()
    assert shown_to(a, b).blocking
    assert shown_to(b, a).blocked_by
    assert [len(first_page(reader)) for reader in (a, b)] == [1, 1]


@pytest.mark.parametrize("place", ["relations.blocked", "relations.mirrored_now"])
def test_block_killed_between_commits_and_caches_is_finished_by_the_drain(mutual, drain, place):
    """After the owner's commit the other shard is unchanged; after both, caches are old."""
    a, b = mutual
    with dying_at(place):
        block(a, b)
    assert_no_contradiction(a, b)
    assert_no_contradiction(b, a)
    drain()
    assert_block_stands(a, b)


@pytest.mark.parametrize("commits", [1, 2])
def test_block_killed_in_the_inline_consumers_is_finished_by_the_drain(
    mutual, drain, monkeypatch, commits
):
    """The caches of the block's own commit, or of the follow that it ended on the other shard."""
    a, b = mutual
    with dying_in_consumers(monkeypatch, commits):
        block(a, b)
    assert cached_members(LISTS[0], (a, b)[commits - 1]) != []  # what is to be repaired
    drain()
    assert_block_stands(a, b)


def test_drain_killed_between_rows_and_caches_of_a_block(mutual, drain):
    a, b = mutual
    with dying_at("relations.blocked"):
        block(a, b)
    with dying_at("relations.mirrored"):
        drain()
    drain()
    assert_block_stands(a, b)


def test_block_killed_before_its_commit_never_was(mutual, drain, monkeypatch):
    a, b = mutual
    before = forward_edges()
    with monkeypatch.context() as patch:
        patch.setattr("relations.actions.block.hide_follower", die)
        with pytest.raises(Killed):
            block(a, b)
    assert drain() == 0
    assert forward_edges() == before
    assert_drained_truth()
    assert_cached_lists_agree([a, b])


@pytest.mark.parametrize("place", ["relations.mirrored_now", None])
def test_unblock_that_is_killed_is_finished_by_the_drain(mutual, drain, monkeypatch, place):
    a, b = mutual
    block(a, b)
    drain()
    with dying_at(place) if place else dying_in_consumers(monkeypatch, 1):
        unblock(a, b)
    drain()
    assert_drained_truth()
    assert follow(b, a)


@pytest.mark.parametrize("wish", [QUIET, OPEN])
def test_switch_killed_after_its_commit_is_finished_by_the_drain(mutual, drain, monkeypatch, wish):
    a, b = mutual
    if wish is OPEN:
        follow(a, b, QUIET)
        drain()
        write_lists(a), write_lists(b)
    before = forward_edges()[a, b]
    with dying_in_consumers(monkeypatch, 1):
        follow(a, b, wish)
    drain()
    after = forward_edges()[a, b]
    assert after.attribute is (Attribute.WHISPER if wish is QUIET else Attribute.FOLLOW)
    assert (after.since_ms, after.revision) == (before.since_ms, before.revision + 1)
    assert_drained_truth()
    assert_cached_lists_agree([a, b])
    assert len(first_page(a)) == 2


def test_switch_killed_in_the_drain_between_rows_and_caches(mutual, drain):
    """The followee's list of open followers must lose the follower."""
    a, b = mutual
    follow(a, b, QUIET)
    with dying_at("relations.mirrored"):
        drain()
    assert cached_members(LISTS[2], b) == [a]  # what is to be repaired
    drain()
    assert_drained_truth()
    assert cached_members(LISTS[2], b) in ([], None)
    assert_cached_lists_agree([a, b])


def begun_today(account_id: int) -> list[int]:
    rows = FollowDay.objects.on(shard_of(account_id)).filter(account_id=account_id)
    return [row.begun for row in rows]


def test_follow_that_fails_at_its_last_step_used_up_nothing_of_the_day(world, drain, monkeypatch):
    a, b, c = make_accounts(3)
    follow(a, b)
    with monkeypatch.context() as patch:
        # The change row is written last. Its lane is no smallint here.
        columns = ChangeColumns(1 << 20, EdgeChanged.kind, "{}")
        patch.setattr(write_edge_module, "change_columns", lambda *_: columns)
        with pytest.raises(DataError):
            follow(a, c)
    assert begun_today(a) == [1]
    drain()
    assert live_pairs() == {(a, b)}
    assert_drained_truth()


def test_follow_killed_after_its_commit_counted_once_however_often_it_is_tried(
    world, drain, monkeypatch
):
    a, b = make_accounts(2)
    with dying_in_consumers(monkeypatch, 1):
        follow(a, b)
    assert follow(a, b) is False
    assert begun_today(a) == [1]
    drain()
    assert_drained_truth()
    assert sum(counts().values()) == 2


def test_killed_switch_back_and_forth_leaves_one_change_each(mutual, drain, monkeypatch):
    a, b = mutual
    for wish in (QUIET, OPEN, QUIET):
        with dying_in_consumers(monkeypatch, 1):
            follow(a, b, wish)
    assert Change.objects.on(shard_of(a)).count() == 3
    drain()
    assert_drained_truth()
    assert_cached_lists_agree([a, b])
