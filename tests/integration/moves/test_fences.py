"""The fence of a switch: what a slow switch, an older process and a late drain leave."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connections

from infra.changes.hand_over import OWNER, hand_over_changes
from infra.moving import AccountMoving
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves import guard, rows
from operations.moves.errors import MoveLost
from operations.moves.interrupted import finish_interrupted_switch
from operations.moves.route import claim
from operations.moves.rows import find_unfinished, take_move
from operations.moves.types import MoveRef, MoveRoute
from tests.dying import Killed, armed, die
from tests.integration.moves.writers import make_friends
from tests.moving import SOURCE, TARGET, move
from tests.waiting import until
from tests.world import publish

pytestmark = pytest.mark.slow
POSTS = "SELECT count(*) FROM posts_post WHERE author_id = %s"
EXPIRE = "UPDATE moves_guard SET closed_until = clock_timestamp()"
NEARLY_OVER = "UPDATE moves_guard SET closed_until = clock_timestamp() + interval '0.2 s'"
IS_OVER = "SELECT closed_until <= clock_timestamp() FROM moves_guard"
WAITING = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
CHANGES = "SELECT count(*) FROM changes_change WHERE owner_id = %s"
TOKENS = "SELECT token FROM moves_guard"


@pytest.fixture
def movers(moving):
    return make_friends("hello")


def test_a_switch_slower_than_its_fence_flips_nothing(movers):
    """Somebody has written since all was brought over."""

    def sleep():
        execute(SOURCE, EXPIRE)
        publish(movers[0], "the fence is open")

    with pytest.raises(MoveLost), armed("moves.applied", sleep):
        move()
    assert shard_of(movers[0]) == SOURCE
    assert fetch_one(SOURCE, POSTS, (movers[0],)) == (2,)
    publish(movers[0], "and stays open")


def test_a_writer_who_comes_when_the_fence_ends_is_not_lost(movers, monkeypatch):
    """The fence is kept closed in time, and ends before anybody can see that."""
    set_guard, writing = guard.set_guard, []

    def set_slowly(ref, alias, statement):
        set_guard(ref, alias, statement)
        if statement is guard.KEEP_CLOSED:
            until(lambda: pool.submit(_closing, fetch_one, SOURCE, IS_OVER).result() == (True,))
            writing.append(pool.submit(_closing, publish, movers[0], "when the fence ends"))
            until(lambda: writing[0].done() or fetch_one(SOURCE, WAITING))

    with ThreadPoolExecutor(1) as pool:
        with (
            monkeypatch.context() as patch,
            armed("moves.applied", partial(execute, SOURCE, NEARLY_OVER)),
        ):
            patch.setattr(guard, "set_guard", set_slowly)
            move()
        error = writing[0].exception()
    assert error is None or isinstance(error, AccountMoving)
    assert fetch_one(TARGET, POSTS, (movers[0],)) == (1 if error else 2,)


def _closing(call, *arguments):
    try:
        return call(*arguments)
    finally:
        connections.close_all()


def test_changes_that_a_late_drain_left_are_handed_over(movers):
    """A drain that was at work in the switch has written follow-up changes on the source."""
    publish(movers[0], "in between")
    left = partial(hand_over_changes, TARGET, SOURCE, f"{OWNER} = {movers[0]}")
    with armed("moves.flipped", left):
        move()
    assert fetch_one(SOURCE, CHANGES, (movers[0],)) == (0,)
    assert fetch_one(TARGET, CHANGES, (movers[0],)) == (1,)


def test_an_older_process_takes_no_guard(movers):
    with pytest.raises(Killed), armed("moves.step_recorded", die):
        move()
    unfinished = find_unfinished()
    older, newer = take_move(unfinished), take_move(unfinished)
    claim(newer, is_abort=False)
    with pytest.raises(MoveLost):
        claim(older, is_abort=False)
    assert [fetch_all(alias, TOKENS) for alias in (SOURCE, TARGET)] == [[(newer.token,)]] * 2
    for change in (
        partial(guard.close_source, older, guard.CLOSE_FOR_A_WHILE),
        partial(guard.set_guard, older, TARGET, guard.OPEN),
        partial(guard.require_mine, older, SOURCE),
    ):
        with pytest.raises(MoveLost):
            change()


def test_a_switch_that_a_slow_process_has_flipped_is_finished_there(movers, monkeypatch):
    """It had lost its lock, not its life: it flips the map when its successor has looked."""
    with pytest.raises(Killed), armed("moves.closed_for_good", die):
        move()
    unfinished = find_unfinished()
    ref = MoveRef(unfinished.pk, unfinished.token, SOURCE, TARGET, rows.buckets_of(unfinished))

    def take_late(taken):
        rows.flip(ref, MoveRoute.MOVE)
        return take_move(taken)

    with monkeypatch.context() as patch:
        patch.setattr(rows, "take_move", take_late)
        finish_interrupted_switch("default")
    assert shard_of(movers[0]) == TARGET
    publish(movers[0], "goes on")
