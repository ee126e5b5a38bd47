"""What must be so before a move begins, on servers that cannot move buckets.

A write has committed, and then the bucket map changes: its answer is read by the new map.
"""

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import override_settings

from infra.changes.pausing import pause_kind
from infra.sharding.map_copy import MapCopy
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import execute, fetch_one
from operations.moves.check import find_faults, name_lacking_rights
from operations.moves.models import Move
from operations.moves.tables import list_moved_tables
from tests.callers import Caller
from tests.dying import armed
from tests.ended_sessions import ender
from tests.integration.api.encodings import ENCODINGS, as_multipart
from tests.integration.api.test_parameters_of_writes import send
from tests.integration.api.written_routes import ACCOUNT, WRITES, Scene
from tests.pictures import picture, upload
from tests.push_service import Device
from tests.sign_ups import FAST_HASHERS
from timelines.recent.low_water_mark import (
    begin_own_only,
    delete_low_water_mark,
    lower_low_water_mark,
)

__all__ = ["ender"]


def test_a_server_without_logical_replication_is_named(world, capsys):
    with pytest.raises(CommandError, match="shard0: wal_level is replica: set wal_level = logical"):
        call_command("moves", "start", "--from", "shard0", "--to", "shard1", "--share", "1/4")
    assert not Move.objects.exists()
    assert "1024 of 4096 buckets from shard0 to shard1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("shard0", "shard0", "1/4"), "the same shard"),
        (("shard0", "shard1", "1/9999"), "less than one"),
        (("shard0", "shard1", "2"), "not between 0 and 1"),
        (("shard0", "shard1", "half"), "not a share"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(world, words, why):
    source, target, share = words
    with pytest.raises(CommandError, match=why):
        call_command("moves", "start", "--from", source, "--to", target, "--share", share)


@pytest.mark.parametrize("what", ["undo", "abort", "complete", "resume"])
def test_without_a_move_there_is_nothing_to_do(world, what):
    with pytest.raises(CommandError, match="no move is unfinished"):
        call_command("moves", what)


@pytest.fixture
def plain_role(world):
    """What each statement does, is done as this role: it owns nothing, and may all that the tables
    need."""
    (owner,) = fetch_one("shard0", "SELECT current_user::text")
    execute("shard0", f'CREATE ROLE plain IN ROLE "{owner}"')
    execute("shard0", "SET ROLE plain")
    yield owner
    execute("shard0", "RESET ROLE")
    execute("shard0", "DROP OWNED BY plain")
    execute("shard0", "DROP ROLE plain")


def _refused_rights():
    faults = find_faults("shard0", "shard1")
    return [fault for fault in faults if "may not replicate" in fault]


def test_a_role_that_may_not_replicate_gets_what_the_refusal_names(plain_role):
    """With the version of PostgreSQL that runs here."""
    (refused,) = _refused_rights()
    assert refused.startswith("shard0: the role plain may not replicate: ")
    statements = refused.rpartition(": ")[2].partition(",")[0].split("; ")
    execute("shard0", "RESET ROLE")
    for statement in statements:
        execute("shard0", statement)
    execute("shard0", "SET ROLE plain")
    assert _refused_rights() == []


def test_the_least_rights_are_those_of_the_version():
    grants = ["ALTER ROLE plain REPLICATION", None, "GRANT CREATE ON DATABASE a TO plain"]
    assert name_lacking_rights(16, "plain", grants) == f"{grants[0]}; {grants[2]}"
    assert name_lacking_rights(18, "plain", [None, None, None]) == ""
    assert "SUPERUSER, until the move is completed" in name_lacking_rights(15, "plain", [None] * 3)


def test_differences_between_the_shards_are_named(world):
    pause_kind("shard0", "posts.created", "a test")
    execute("shard1", "CREATE INDEX odd ON markers_marker (version)")
    try:
        faults = find_faults("shard0", "shard1")
    finally:
        execute("shard1", "DROP INDEX odd")
    assert any("posts.created is paused on shard0" in fault for fault in faults)
    assert any(fault.startswith("shard0 lacks index markers_marker") for fault in faults)


def test_an_index_that_is_not_as_the_setting_says_does_not_move(world, settings):
    assert not any("index" in fault for fault in find_faults("shard0", "shard1"))
    settings.RECENT_INDEX = "by_author"
    faults = find_faults("shard0", "shard1")
    assert sum("has not the posts of its own accounts only" in fault for fault in faults) == 2
    begin_own_only()
    assert not any("index" in fault for fault in find_faults("shard0", "shard1"))
    settings.RECENT_INDEX = "replicated"
    faults = find_faults("shard0", "shard1")
    assert sum("has the posts of its own accounts only" in fault for fault in faults) == 2


def test_a_shard_whose_index_is_not_complete_gets_no_accounts(world):
    lower_low_water_mark("shard0", 1)
    delete_low_water_mark("shard1")
    faults = find_faults("shard0", "shard1")
    assert "shard1: its recent-posts index is not complete: run backfill recent-posts" in faults


def test_every_sharded_table_moves_by_its_owner(world):
    tables = {table.name: table.owner for table in list_moved_tables()}
    assert len(tables) == 40
    assert tables["accounts_account"] == "id"
    assert tables["tags_taggedpost"] == "tag_id"
    assert tables["timelines_entry"] == "reader_id"


TELL = "UPDATE sharding_databaseidentity SET map_epoch = map_epoch + 1"
FORGET = "UPDATE sharding_databaseidentity SET map_epoch = 0"


@pytest.fixture
def change_map(ender):
    """As a switch does: the epoch, first of the default database, and then the end of sessions."""

    def change():
        execute("default", TELL)
        ender.end_all(TELL)

    yield change
    connections.close_all()
    MapCopy.forget()
    for alias in ("default", *shard_aliases()):
        execute(alias, FORGET)
    MapCopy.forget()


def has_two_steps(write):
    """An edit with a policy: the client that gets a 503 sends it again."""
    return write.template.endswith("/{status_id}") and "quote_approval_policy" in write.parameters


@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
def test_each_write_is_answered_when_the_map_changes_after_its_commit(change_map):
    scene, refused, changes = Scene(Device(), "moved"), [], []

    def changed():
        changes.append(1)
        change_map()

    for write in WRITES:
        sender = Caller(None, "write") if write.template == ACCOUNT else scene.me
        parameters = scene.fill(write.parameters)
        sent = (
            as_multipart({**parameters, "file": upload(picture())})
            if write.has_file
            else ENCODINGS["json"](parameters)
        )
        with armed("changes.committed", changed):
            answer = send(sender.client, write, scene.fill(write.template), sent)
        if answer.status_code == 503 and has_two_steps(write):
            answer = send(sender.client, write, scene.fill(write.template), sent)
        if answer.status_code != 200:
            refused.append((write.method, write.template, answer.status_code))
    assert refused == []
    assert len(changes) > 15
