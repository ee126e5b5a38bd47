"""shards show and shards check, also with a database down."""

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connections
from django.db.migrations.recorder import MigrationRecorder

from infra.sharding import database_info
from infra.sharding.buckets import BUCKET_COUNT
from infra.sharding.identity import find_identity
from infra.sharding.models import DatabaseIdentity
from infra.sharding.probe import ProbeTimeout, probe_all
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute
from tests.world import make_accounts


def run(command, *words):
    out, error = StringIO(), StringIO()
    code = 0
    try:
        call_command(command, *words, stdout=out, stderr=error)
    except SystemExit as exit_:
        code = exit_.code
    return code, out.getvalue().splitlines(), error.getvalue()


@contextmanager
def down(alias, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(connections[alias].settings_dict, "HOST", "/nowhere")
        connections[alias].close()
        yield
    connections[alias].close()


def test_information_about_all_databases(world):
    make_accounts(8)
    for alias in all_aliases()[1:]:
        execute(alias, "ANALYZE accounts_account")
    _, lines, error = run("shards", "show", "--json")
    assert error == ""
    rows = {row["alias"]: row for row in map(json.loads, lines)}
    assert list(rows) == all_aliases()
    assert sum(row["bucket_count"] for row in rows.values()) == BUCKET_COUNT
    assert rows["default"]["account_count"] is None
    assert sum(row["account_count"] or 0 for row in rows.values()) == 8
    for row in rows.values():
        assert row["size_bytes"] > 1e6
        assert 0 < row["connection_count"] <= row["most_connections"]
        # To half a round trip, which is long on a crowded machine; zones differ by half an hour.
        assert abs(row["clock_offset_s"]) < 600
        assert int(row["server_version"].split(".")[0]) >= 15
        assert row["place"].endswith(str(connections[row["alias"]].settings_dict["NAME"]))


def test_database_that_is_down_is_named_and_the_others_shown(world, monkeypatch):
    with down("shard1", monkeypatch):
        code, lines, error = run("shards", "show")
    assert code == 1
    assert len(lines) == 1 + len(all_aliases()) - 1
    assert error.startswith("shard1: unreachable: connection")


def test_schema_is_as_it_should_be(world):
    code, lines, _ = run("shards", "check")
    assert [line.split(" of ")[0] for line in lines] == [
        f"{alias}: as it should be ({alias}" for alias in all_aliases()
    ]
    assert code == 0


def test_identity_is_written_once_and_shown(world):
    for _ in range(2):
        call_command("migrate_shards", stdout=StringIO())
    _, lines, _ = run("shards", "check")
    one = find_identity("default")
    text = f"of installation {one.installation}, since {one.created_at:%Y-%m-%d}"
    assert lines == [f"{alias}: as it should be ({alias} {text})" for alias in all_aliases()]
    _, lines, _ = run("shards", "check", "--json", "--shard", "shard1")
    assert json.loads(lines[0])["identity"] == f"shard1 {text}"


def test_database_has_one_identity(world):
    with pytest.raises(IntegrityError):
        DatabaseIdentity.objects.using("default").create(
            id=2, alias="shard0", installation=uuid4(), created_at=datetime.now(UTC)
        )


# Damage done by hand, the statement that undoes it, and the line that shards check prints.
DAMAGE = {
    "column": (
        "ALTER TABLE accounts_account RENAME display_name TO shown",
        "ALTER TABLE accounts_account RENAME shown TO display_name",
        "shard2: lacks column accounts_account.display_name",
    ),
    "type": (
        "ALTER TABLE changes_change ALTER attempts TYPE bigint",
        "ALTER TABLE changes_change ALTER attempts TYPE integer",
        "shard2: lacks column changes_change.attempts integer not null",
    ),
    "index": (
        "ALTER INDEX change_pending RENAME TO change_old",
        "ALTER INDEX change_old RENAME TO change_pending",
        "shard2: lacks change_pending of changes_change",
    ),
    "constraint": (
        "ALTER TABLE changes_change ADD CONSTRAINT by_hand CHECK (lane >= 0)",
        "ALTER TABLE changes_change DROP CONSTRAINT by_hand",
        "shard2: has alone constraint changes_change: by_hand CHECK ((lane >= 0))",
    ),
    "table": (
        "CREATE TABLE left_over (id bigint)",
        "DROP TABLE left_over",
        "shard2: has alone column left_over.id bigint",
    ),
    "nullable": (
        "ALTER TABLE changes_change ALTER error DROP NOT NULL",
        "ALTER TABLE changes_change ALTER error SET NOT NULL",
        "shard2: lacks column changes_change.error text not null",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_difference_is_named(world, damage):
    harm, heal, line = DAMAGE[damage]
    execute("shard2", harm)
    try:
        code, lines, _ = run("shards", "check")
        assert run("shards", "check", "--shard", "shard1")[0] == 0
    finally:
        execute("shard2", heal)
    assert code == 1
    assert any(found.startswith(line) for found in lines), lines
    assert any(line.startswith("shard1: as it should be (") for line in lines)


def test_missing_migration_is_named(world):
    recorder = MigrationRecorder(connections["shard1"])
    recorder.record_unapplied("markers", "0001_initial")
    try:
        code, lines, _ = run("shards", "check", "--json", "--shard", "shard1")
    finally:
        recorder.record_applied("markers", "0001_initial")
    assert code == 1
    assert json.loads(lines[0])["faults"][0].startswith("lacks migration markers.0001")


def test_clock_that_is_off(world, monkeypatch):
    ahead = "SELECT extract(epoch FROM clock_timestamp() + interval '7 s')::float8"
    monkeypatch.setattr(database_info, "CLOCK", ahead)
    code, lines, _ = run("shards", "check", "--shard", "shard0")
    assert code == 1
    assert lines[0].startswith("shard0: its clock is off by +")
    assert run("shards", "check", "--shard", "shard0", "--clock-ms", "8000")[0] == 0


def test_database_that_is_down_is_a_fault(world, monkeypatch):
    with down("shard1", monkeypatch):
        code, lines, _ = run("shards", "check")
    assert code == 1
    assert [line for line in lines if line.startswith("shard1: unreachable")]
    assert any(line.startswith("shard0: as it should be (") for line in lines)


def test_store_that_hangs_is_not_waited_for():
    may_end = threading.Event()
    answers = probe_all({"slow": may_end.wait, "quick": lambda: 1, "broken": lambda: 1 / 0}, 0.2)
    may_end.set()
    assert isinstance(answers["slow"].error, ProbeTimeout)
    assert answers["slow"].problem == "slow does not answer: no answer in 0.2 s"
    assert (answers["quick"].value, answers["quick"].problem) == (1, "")
    assert isinstance(answers["broken"].error, ZeroDivisionError)
