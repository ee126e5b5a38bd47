"""Shards that have much give to those that have little."""

import re

import pytest
from django.core.management import CommandError, call_command

from infra.sharding.buckets import bucket_map, shard_of
from infra.sharding.map_copy import MapCopy
from infra.sharding.sql import execute, fetch_one
from operations.moves.models import Move
from operations.moves.types import MoveRoute
from tests.moving import compare_shards
from tests.private_world import catch_up
from tests.waiting import until
from tests.world import make_accounts, publish

pytestmark = pytest.mark.slow
GIVE = "UPDATE sharding_bucket SET alias = 'shard0' WHERE alias IN ('shard2', 'shard3')"
ROWS = "SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'posts_post'"
HAS = "SELECT EXISTS (SELECT FROM accounts_account WHERE id = %s)"


@pytest.fixture
def movers(moving):
    """Three of four are on shard0, and no account is on shard2 and shard3."""
    execute("default", GIVE)
    MapCopy.doubt()
    movers = make_accounts(32)
    for person in movers:
        publish(person, "hello")
    catch_up()
    until(lambda: fetch_one("shard0", ROWS)[0] >= 24)
    return movers


def test_the_plan_is_printed_and_run(movers, capsys):
    call_command("rebalance", "--seconds", "0.1", "--dry-run")
    planned = [line for line in capsys.readouterr().out.splitlines() if line.startswith("move ")]
    assert "from shard0 to shard" in planned[0]
    assert not Move.objects.exists()
    call_command("rebalance", "--seconds", "0.1")
    # Estimates of rows may have changed since the plan.
    planned = re.findall(r"^move \d+ of \d+:", capsys.readouterr().out, re.MULTILINE)
    moves = list(Move.objects.order_by("pk"))
    assert len(moves) == len(planned) >= 2
    assert {(move.route, move.is_finished) for move in moves[:-1]} == {(MoveRoute.COMPLETE, True)}
    assert (moves[-1].route, moves[-1].step) == (MoveRoute.MOVE, "watched")
    assert compare_shards() > 0
    owned = [bucket_map().count(f"shard{n}") for n in range(4)]
    assert min(owned) > 2000
    assert all(fetch_one(shard_of(person), HAS, (person,)) == (True,) for person in movers)
    with pytest.raises(CommandError, match="is not finished"):
        call_command("rebalance")
