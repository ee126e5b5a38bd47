"""The source of a move is lost at each step, and its standby takes its place at the same address.

Commits wait for the standby. It has no slots: PostgreSQL before 17 cannot give it any. So a move
whose accounts are still on the source is given up and begun again; another one goes on.
"""

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from infra.sharding.bounded.breaker import reset_breakers
from infra.sharding.buckets import current_map, shard_of
from infra.sharding.map_copy import MapCopy
from infra.sharding.sql import fetch_one
from operations.moves.models import Move
from operations.moves.periodic import finish_interrupted_switch
from tests.dying import Killed, armed, die
from tests.faults.replicas.test_synchronous_standby import promote
from tests.integration.moves.writers import make_friends
from tests.moving import SOURCE, TARGET, compare_shards, list_leftovers, move
from tests.private_world import catch_up
from tests.replica_servers import ReplicaServer
from tests.replicas import wait_for_standbys
from tests.server_faults import kill
from tests.waiting import until
from tests.world import publish

pytestmark = pytest.mark.slow
POSTS = "SELECT count(*) FROM posts_post WHERE author_id = %s"
# Steps after which the accounts are on the source, and places of the switch.
BEFORE = ("published", "copied", "compared", "way_back_prepared")
IN_SWITCH = ("moves.closed", "moves.applied", "moves.handed_over", "moves.closed_for_good")
AFTER = ("moves.flipped", "switched", "settled", "watched")


@pytest.fixture
def standby(moving):
    """Of the source; it has all that is committed."""
    source = moving.postgres[SOURCE]
    number = int(source.name.partition("_")[2] or 0) + 1
    standby = ReplicaServer(source, f"{SOURCE}_{number}", 20 + number)
    standby.settings = dict(source.settings)
    standby.copy()
    standby.start()
    wait_for_standbys(source, f'"tideline {standby.name}"')
    yield standby
    if standby.is_running and moving.postgres[SOURCE] is not standby:
        wait_for_standbys(source, "")
        standby.stop()


@pytest.fixture
def movers(moving, standby):
    return make_friends("hello")


def fail_over(moving, standby):
    source = moving.postgres[SOURCE]
    kill(source)
    promote(standby)
    until(lambda: is_promoted(standby))
    standby.stop()
    standby._port = source._port
    source.remove_leftovers()
    moving.postgres[SOURCE] = standby
    standby.start()
    reset_breakers()
    connections[SOURCE].close()
    # Each command is a process of its own, which has no older map.
    MapCopy.doubt()
    current_map()


def is_promoted(standby):
    with psycopg.connect(standby.url) as session:
        return session.execute("SELECT NOT pg_is_in_recovery()").fetchone() == (True,)


def lose_source_at(place, moving, standby):
    """The process of the move dies there, too."""

    def look():
        if place.startswith("moves.") or Move.objects.latest("pk").step == place:
            die()

    where = place if place.startswith("moves.") else "moves.step_recorded"
    if place == "watched":
        move()
    else:
        with pytest.raises(Killed), armed(where, look):
            move()
    fail_over(moving, standby)


def count_posts(alias, movers):
    return [fetch_one(alias, POSTS, (person,))[0] for person in movers]


@pytest.mark.parametrize("place", [*BEFORE, *IN_SWITCH])
def test_a_move_is_given_up_and_begun_again(moving, standby, movers, place, capsys):
    lose_source_at(place, moving, standby)
    if place == "moves.closed_for_good":
        finish_interrupted_switch("default")
    with pytest.raises(CommandError, match="abort"):
        call_command("moves", "resume")
    call_command("moves", "abort")
    assert list_leftovers() == []
    for person in movers:
        publish(person, "goes on")
    assert count_posts(SOURCE, movers[:2]) == [2, 2]
    assert count_posts(TARGET, movers[:2]) == [0, 0]
    catch_up()
    move()
    assert compare_shards() > 0
    call_command("moves", "complete")
    assert count_posts(TARGET, movers[:2]) == [2, 2]
    assert count_posts(SOURCE, movers[:2]) == [0, 0]
    assert list_leftovers() == []


def test_a_move_that_has_only_guards_goes_on(moving, standby, movers):
    lose_source_at("guarded", moving, standby)
    call_command("moves", "resume")
    assert {shard_of(mover) for mover in movers[:2]} == {TARGET}
    assert compare_shards() > 0


@pytest.mark.parametrize("place", AFTER)
def test_a_move_whose_accounts_are_on_the_target_goes_on(moving, standby, movers, place):
    """There and back: the way back does not begin at the server that was lost."""
    lose_source_at(place, moving, standby)
    if place != "watched":
        call_command("moves", "resume")
    assert {shard_of(mover) for mover in movers[:2]} == {TARGET}
    for person in movers:
        publish(person, "goes on")
    catch_up()
    until(lambda: count_posts(SOURCE, movers[:2]) == [2, 2])
    assert compare_shards() > 0
    call_command("moves", "undo")
    assert count_posts(SOURCE, movers[:2]) == [2, 2]
    assert count_posts(TARGET, movers[:2]) == [0, 0]
    assert list_leftovers() == []


def test_the_other_shard_is_no_standby(moving, standby):
    """Its subscription would confirm commits that no standby has."""
    wait_for_standbys(moving.postgres[SOURCE], "*")
    with pytest.raises(CommandError, match="the other shard would count as a standby"):
        move()
