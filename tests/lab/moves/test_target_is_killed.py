"""The server of the target is killed at each step, and the mover with it. `moves resume` goes on.

What the target commits without a wait for its disk is lost then.
"""

from contextlib import contextmanager
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from psycopg.conninfo import conninfo_to_dict

from infra.sharding.bounded.breaker import reset_breakers
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all, fetch_one
from operations.moves.errors import MoveStuck
from operations.moves.models import Move
from operations.moves.periodic import finish_interrupted_switch
from tests.dying import Killed, armed, die
from tests.integration.moves.writers import make_friends
from tests.integration.operations.staff import staff_of
from tests.moving import SOURCE, TARGET, compare_shards, list_leftovers, move
from tests.private_world import catch_up
from tests.server_faults import kill
from tests.waiting import until
from tests.world import publish

pytestmark = pytest.mark.slow
POSTS = "SELECT count(*) FROM posts_post WHERE author_id = %s"
STEPS = ("guarded", "copied", "compared", "way_back_prepared", "switched", "settled", "watched")
IN_SWITCH = (
    "moves.closed",
    "moves.applied",
    "moves.handed_over",
    "moves.closed_for_good",
    "moves.flipped",
)
# Of 41 tables: so many are copied, or nearly.
COPIED = (0, 1, 10, 25)
NEARLY = "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate NOT IN ('i', 'd')"
STATES_OF_TABLES = "SELECT srrelid::regclass::text, srsubstate, srsublsn FROM pg_subscription_rel"
WORKERS = "SELECT backend_type, pid, wait_event, query FROM pg_stat_activity"
LAZY = {"wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"}


@pytest.fixture
def target(moving):
    """It writes to its disk what it must, and nothing else."""
    server = moving.postgres[TARGET]
    for name, value in LAZY.items():
        execute(TARGET, f"ALTER SYSTEM SET {name} = '{value}'")
    fetch_one(TARGET, "SELECT pg_reload_conf()")
    yield server
    if not server.is_running:
        restart(server)
    execute(TARGET, "ALTER SYSTEM RESET ALL")
    fetch_one(TARGET, "SELECT pg_reload_conf()")


@pytest.fixture
def movers(target):
    return make_friends("hello")


def restart(server, **settings):
    kill(server)
    server.settings = {**server.settings, **settings}
    server.start()
    reset_breakers()
    connections[TARGET].close()


def die_at(place):
    def look():
        if place.startswith("moves.") or Move.objects.latest("pk").step == place:
            die()

    with (
        pytest.raises(Killed),
        armed(place if place.startswith("moves.") else "moves.step_recorded", look),
    ):
        move()


def require_moved(movers):
    """There, and back."""
    assert {shard_of(mover) for mover in movers[:2]} == {TARGET}
    for person in movers:
        publish(person, "goes on")
    catch_up()
    # The source may be late to come back to a server that was away.
    until(lambda: [fetch_one(SOURCE, POSTS, (mover,)) for mover in movers[:2]] == [(2,), (2,)])
    assert compare_shards() > 0
    call_command("moves", "undo")
    assert [fetch_one(SOURCE, POSTS, (mover,)) for mover in movers[:2]] == [(2,), (2,)]
    assert list_leftovers() == []


@pytest.mark.parametrize("place", [*STEPS, *IN_SWITCH])
def test_a_move_goes_on(target, movers, place):
    die_at(place)
    restart(target)
    finish_interrupted_switch("default")
    if place != "watched":
        call_command("moves", "resume")
    require_moved(movers)


@pytest.mark.parametrize("count", COPIED)
def test_a_copy_goes_on(target, movers, count):
    die_at("published")
    until(partial(_has_copied, count))
    restart(target)
    resume(target)
    require_moved(movers)


def resume(target):
    """Says what the target's server knows, if a copy does not go on."""
    try:
        call_command("moves", "resume")
    except MoveStuck as stuck:
        states = fetch_all(TARGET, STATES_OF_TABLES)
        log = "\n".join(target.log.read_text().splitlines()[-80:])
        pytest.fail(f"{stuck}\n{states}\n{fetch_all(TARGET, WORKERS)}\n{log}")


def _has_copied(count):
    return fetch_one(TARGET, NEARLY)[0] >= count


@pytest.mark.parametrize("way_out", ["resume", "abort"])
def test_a_copy_that_does_not_come_on_is_an_error(target, movers, way_out, monkeypatch, capsys):
    """The target has no processes for it, and PostgreSQL says so in its log only."""
    monkeypatch.setattr("operations.moves.copying.STILL_S", 1.0)
    die_at("published")
    before = target.settings
    restart(target, max_logical_replication_workers="0")
    try:
        with pytest.raises(
            CommandError, match=r"copied nothing for 1 s.* moves resume.* moves abort"
        ):
            call_command("moves", "resume")
        capsys.readouterr()
        call_command("moves", "show")
        said = capsys.readouterr().out
        assert "move published (unfinished)" in said
        assert "stopped: shard1 has copied nothing" in said
        page = staff_of("operator").get("/admin/moves/").content.decode()
        assert "shard1 has copied nothing" in page
    finally:
        target.settings = before
        restart(target)
    call_command("moves", way_out)
    call_command("moves", "show")
    assert "stopped" not in capsys.readouterr().out.splitlines()[-1]
    if way_out == "resume":
        require_moved(movers)
    assert list_leftovers() == []


@contextmanager
def writing_on(alias):
    """A transaction that has written there, and does not end."""
    connection = connections[alias].copy()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN; SELECT txid_current(); SELECT 'I stay'")
        yield
    connection.close()


def test_a_transaction_of_the_source_for_which_a_copy_waits_is_named(target, movers, monkeypatch):
    """It began after the move had its slot. The slot of each table waits for it, too."""
    die_at("published")
    before = target.settings
    restart(target, max_logical_replication_workers="0")
    with writing_on(SOURCE), monkeypatch.context() as patch:
        target.settings = before
        restart(target)
        patch.setattr("operations.moves.copying.STILL_S", 1.0)
        with pytest.raises(CommandError, match=r"shard0 waits for process \d+ for .*I stay"):
            call_command("moves", "resume")
    call_command("moves", "resume")
    require_moved(movers)


def test_a_source_that_is_gone_without_a_word_is_noticed(target, movers):
    """Its socket has no such fault: what PostgreSQL is told is all that can be seen."""
    die_at("published")
    [(told,)] = fetch_all(TARGET, "SELECT subconninfo FROM pg_subscription")
    assert {"keepalives_idle", "connect_timeout"} <= conninfo_to_dict(told).keys()


@pytest.mark.parametrize("is_reading", [True, False])
def test_a_table_that_is_read_for_long_is_progress(target, movers, is_reading, monkeypatch):
    """Few of its rows may move. The target is away, and so nothing else comes on."""
    monkeypatch.setattr("operations.moves.copying.STILL_S", 0.5)
    die_at("published")
    before = target.settings
    restart(target, max_logical_replication_workers="0")
    looks = []

    def look(*_):
        looks.append(1)
        if len(looks) > 30:
            raise Killed
        return "", is_reading

    monkeypatch.setattr("operations.moves.stream.read_copying", look)
    try:
        with pytest.raises(Killed if is_reading else CommandError):
            call_command("moves", "resume")
    finally:
        target.settings = before
        restart(target)
    assert fetch_all("default", "SELECT figures ? 'stopped_by' FROM moves_move") == [
        (not is_reading,)
    ]
