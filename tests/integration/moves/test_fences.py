"""The fence of a switch: what a slow switch, an older process and a late drain leave.

What /metrics and the admin say of moves.

Shards that have much give to those that have little.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from infra.changes.hand_over import OWNER, hand_over_changes
from infra.moving import AccountMoving
from infra.sharding.buckets import bucket_map, shard_of
from infra.sharding.map_copy import MapCopy
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves import guard, rows
from operations.moves.errors import MoveLost
from operations.moves.metrics import MovesCollector
from operations.moves.models import Move
from operations.moves.periodic import finish_interrupted_switch
from operations.moves.route import claim
from operations.moves.rows import find_unfinished, take_move
from operations.moves.types import MoveRef, MoveRoute
from tests.dying import Killed, armed, die
from tests.integration.moves.writers import make_friends
from tests.integration.operations.staff import staff_of
from tests.moving import SOURCE, TARGET, compare_shards, make_movers, move
from tests.private_world import catch_up
from tests.server_faults import hanging
from tests.waiting import until
from tests.world import make_accounts, publish

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


@pytest.fixture
def mover(moving):
    (mover,) = make_movers(1)
    publish(mover, "hello")
    catch_up()
    return mover


def read_metrics():
    """Values by name and shard."""
    return {
        (sample.name, sample.labels.get("shard")): sample.value
        for family in MovesCollector().collect()
        for sample in family.samples
    }


def test_metrics_and_page_show_how_far_a_move_is(mover, moving):
    assert read_metrics() == {("tideline_moves_unfinished", None): 0}
    move()
    # A process with the map from before reads it again first.
    until(lambda: len(read_metrics()) == 6, said=read_metrics)
    shown = read_metrics()
    assert shown["tideline_moves_unfinished", None] == 1
    assert 0 <= shown["tideline_move_step_seconds", None] < 600
    assert shown["tideline_move_log_bytes", TARGET] > 0, "it keeps log for the way back"
    assert shown["tideline_move_log_bytes", SOURCE] == 0
    assert shown["tideline_move_lag_seconds", TARGET] >= 0
    operator = staff_of("operator")
    page = operator.get("/admin/moves/").content.decode()
    assert "is not finished" in page
    assert "keeps nothing" in page
    assert "way back prepared" in page
    with hanging(moving.postgres[TARGET]):
        assert f"{TARGET} does not answer" in operator.get("/admin/moves/").content.decode()
        assert ("tideline_move_log_bytes", TARGET) not in read_metrics()
    call_command("moves", "complete")
    assert read_metrics() == {("tideline_moves_unfinished", None): 0}
    page = operator.get("/admin/moves/").content.decode()
    assert "is not finished" not in page
    assert "complete, finished" in page


GIVE = "UPDATE sharding_bucket SET alias = 'shard0' WHERE alias IN ('shard2', 'shard3')"
ROWS = "SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'posts_post'"
HAS = "SELECT EXISTS (SELECT FROM accounts_account WHERE id = %s)"


@pytest.fixture
def crowd(moving):
    """Three of four are on shard0, and no account is on shard2 and shard3."""
    execute("default", GIVE)
    MapCopy.doubt()
    crowd = make_accounts(32)
    for person in crowd:
        publish(person, "hello")
    catch_up()
    until(lambda: fetch_one("shard0", ROWS)[0] >= 24)
    return crowd


def test_the_plan_is_printed_and_run(crowd, capsys):
    call_command("moves", "rebalance", "--seconds", "0.1", "--dry-run")
    planned = [line for line in capsys.readouterr().out.splitlines() if line.startswith("move ")]
    assert "from shard0 to shard" in planned[0]
    assert not Move.objects.exists()
    call_command("moves", "rebalance", "--seconds", "0.1")
    # Estimates of rows may have changed since the plan.
    planned = re.findall(r"^move \d+ of \d+:", capsys.readouterr().out, re.MULTILINE)
    moves = list(Move.objects.order_by("pk"))
    assert len(moves) == len(planned) >= 2
    assert {(move.route, move.is_finished) for move in moves[:-1]} == {(MoveRoute.COMPLETE, True)}
    assert (moves[-1].route, moves[-1].step) == (MoveRoute.MOVE, "watched")
    assert compare_shards() > 0
    owned = [bucket_map().count(f"shard{n}") for n in range(4)]
    assert min(owned) > 2000
    assert all(fetch_one(shard_of(person), HAS, (person,)) == (True,) for person in crowd)
    with pytest.raises(CommandError, match="is not finished"):
        call_command("moves", "rebalance")
