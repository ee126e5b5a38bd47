"""Storms of writes on single pairs and accounts.

No read ever shows a block with a follow. After the storm both sides, counts and caches are equal.

A few rounds each here; `ROUNDS=1000` makes them a thousand.

The same race again and again: workers that start each round together, on threads that live on.

`ROUNDS=1000` in the environment makes the storms as long as they are in a thorough run.
"""

import itertools
import os
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import connections

from accounts.models import Account, User
from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from infra.changes.compensate import compensate
from infra.changes.models import Change
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.shards import all_aliases
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.errors import CannotFollowBlocked
from relations.types import Attribute, FollowOptions
from tests.cached_lists import LISTS, assert_cached_lists_agree, cached_members, write_lists
from tests.contradictions import assert_no_contradiction, shown_to
from tests.races import run_together
from tests.truth import assert_drained_truth, forward_edges
from tests.waiting import PATIENCE_S, until
from tests.world import NOW, make_accounts

Worker = Callable[[int], object]  # is handed the number of the round
IS_THOROUGH = "ROUNDS" in os.environ


def rounds(default: int) -> int:
    """How many rounds to run: few in the suite, ROUNDS in a thorough run."""
    return int(os.environ.get("ROUNDS", default))


def run_rounds(count: int, workers: Sequence[Worker], after: Worker) -> None:
    """In each round all workers start at the same moment; `after` runs alone when they are done.

    Raises what a worker or `after` raised first; no round begins after that.
    """
    begin, end = (threading.Barrier(len(workers) + 1, timeout=PATIENCE_S) for _ in range(2))

    def give_up() -> None:
        begin.abort(), end.abort()

    def work(worker: Worker) -> None:
        try:
            for number in range(count):
                begin.wait()
                worker(number)
                end.wait()
        except BaseException:
            give_up()
            raise
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(workers)) as pool:
        working = [pool.submit(work, worker) for worker in workers]
        try:
            for number in range(count):
                begin.wait()
                end.wait()
                after(number)
        except threading.BrokenBarrierError as error:
            raise _cause_of(error, working) from None
        except BaseException:
            give_up()
            raise


def _cause_of(broken: Exception, working: Sequence[Future[None]]) -> BaseException:
    """Why nobody met any more: the first worker's own error, or somebody took too long."""
    errors = [one.exception() for one in working]
    return next((e for e in errors if e and not isinstance(e, type(broken))), broken)


pytestmark = [pytest.mark.slow, *([pytest.mark.timeout(0)] if IS_THOROUGH else [])]

QUIET, OPEN, SPECIAL = (
    FollowOptions(quiet=True),
    FollowOptions(quiet=False),
    FollowOptions(special=True),
)
LOOKS = 3  # of each reader in each round
CLIENTS = 64 if IS_THOROUGH else 24  # two workers of the suite share the servers' connections
FANS_AT_ONCE = 12


@pytest.fixture(autouse=True)
def no_limits(settings):
    settings.FOLLOWS_PER_DAY = 1_000_000


def drain_pending() -> None:
    for alias in all_aliases():
        for _ in compensate(alias):
            pass


def settle() -> None:
    """Until nothing is pending."""

    def is_settled() -> bool:
        drain_pending()
        return not any(Change.objects.on(alias).exists() for alias in all_aliases())

    until(is_settled)


def assert_settled(people: list[int]) -> None:
    settle()
    assert_drained_truth()
    assert_cached_lists_agree(people)
    for a, b in itertools.permutations(people, 2):
        assert_no_contradiction(a, b)
        ours, theirs = shown_to(a, b), shown_to(b, a)
        assert (ours.following, ours.followed_by) == (theirs.followed_by, theirs.following)


def begin_anew(people: list[int]) -> None:
    """No edges, and caches that are to be changed in place."""
    for a, b in itertools.permutations(people, 2):
        unblock(a, b)
        unfollow(a, b)
    settle()
    for account in people:
        write_lists(account)


def read_both(viewer: int, other: int, _: int) -> None:
    for _ in range(LOOKS):
        assert_no_contradiction(viewer, other)


def drain_one_round(_: int) -> None:
    drain_pending()


def write(call: Callable[[], object]) -> None:
    with suppress(CannotFollowBlocked):
        call()


def pair(is_on_one_shard: bool) -> tuple[int, int]:
    people = make_accounts(12)
    return next(
        (a, b)
        for a, b in itertools.permutations(people, 2)
        if (shard_of(a) == shard_of(b)) is is_on_one_shard
    )


both_places = pytest.mark.parametrize("is_on_one_shard", [True, False])


@both_places
def test_two_who_follow_each_other_at_the_same_moment_are_mutual(world, is_on_one_shard):
    a, b = pair(is_on_one_shard)
    readers = partial(read_both, a, b), partial(read_both, b, a)

    def after(_):
        assert_settled([a, b])
        for viewer, other in ((a, b), (b, a)):
            seen = shown_to(viewer, other)
            assert seen.following
            assert seen.followed_by
        begin_anew([a, b])

    follows = [lambda _: follow(a, b), lambda _: follow(b, a)]
    run_rounds(rounds(20), [*follows, *readers, drain_one_round], after)


@both_places
def test_many_clients_toggling_one_pair(world, is_on_one_shard):
    """Any write by either of the two, from as many clients as there are."""
    a, b = pair(is_on_one_shard)
    writes = [
        *(partial(follow, x, y, wish) for x, y in ((a, b), (b, a)) for wish in (QUIET, OPEN)),
        *(partial(do, x, y) for x, y in ((a, b), (b, a)) for do in (unfollow, block, unblock)),
        *(partial(follow, x, y, SPECIAL) for x, y in ((a, b), (b, a))),
        partial(remove_follower, a, b),
    ]

    def toggle(client, number):
        write(random.Random(client * 1_000_003 + number).choice(writes))

    def after(_):
        assert_settled([a, b])
        for account in (a, b):
            write_lists(account)

    clients = [partial(toggle, client) for client in range(CLIENTS)]
    readers = [partial(read_both, a, b), partial(read_both, b, a)]
    run_rounds(rounds(4), [*clients, *readers, drain_one_round], after)


@both_places
def test_block_against_follow_against_special(world, is_on_one_shard):
    """In any order: the block remains, and no follow does."""
    a, b = pair(is_on_one_shard)

    def after(_):
        assert_settled([a, b])
        edges = forward_edges()
        assert edges[a, b].attribute is Attribute.BLACK
        assert (b, a) not in edges or edges[b, a].attribute is Attribute.NONE
        begin_anew([a, b])

    writes = [
        partial(block, a, b),
        partial(follow, b, a),
        partial(follow, b, a, SPECIAL),
        partial(follow, a, b),
        partial(follow, a, b, SPECIAL),
    ]
    workers = [lambda _, call=call: write(call) for call in writes]
    readers = [partial(read_both, a, b), partial(read_both, b, a)]
    run_rounds(rounds(20), [*workers, *readers, drain_one_round], after)


def test_many_followers_on_one_account_at_once(world, settings):
    """With two drains at the same time, and readers of the followers list."""
    star, *fans = make_many(5 * rounds(80) + 1)
    write_lists(star)
    groups = [fans[n::FANS_AT_ONCE] for n in range(FANS_AT_ONCE)]
    open_groups = len(groups)

    def follow_all(group: Iterable[int]) -> None:
        nonlocal open_groups
        try:
            for number, fan in enumerate(group):
                follow(fan, star, QUIET if number % 10 == 0 else OPEN)
        finally:
            open_groups -= 1

    def drain_meanwhile() -> None:
        while open_groups:
            drain_pending()

    def read_meanwhile() -> None:
        while open_groups:
            seen = cached_members(LISTS[2], star) or []
            assert len(seen) == len(set(seen))
            assert load_counts([star])[star][CounterKind.FOLLOWERS].value <= len(fans)

    calls = [partial(follow_all, group) for group in groups]
    answers = run_together([*calls, drain_meanwhile, drain_meanwhile, read_meanwhile])
    assert answers == [None] * len(answers)
    settle()
    assert_drained_truth()
    assert_cached_lists_agree([star, *fans[:20]])
    counts = load_counts([star])[star]
    quiet = sum(len(group[::10]) for group in groups)
    assert counts[CounterKind.FOLLOWERS].value == len(fans)
    assert counts[CounterKind.QUIET_FOLLOWERS].value == quiet


def make_many(count: int) -> list[int]:
    """Accounts by the thousand, a statement each table and shard."""
    users = User.objects.bulk_create(
        User(username=f"fan{number}", password=UNUSABLE_PASSWORD_PREFIX) for number in range(count)
    )
    names = {user.id: user.username for user in users}
    for alias, ids in group_by_shard(names).items():
        rows = [Account(id=i, username=names[i], created_at=NOW) for i in ids]
        Account.objects.on(alias).bulk_create(rows)
    return list(names)
