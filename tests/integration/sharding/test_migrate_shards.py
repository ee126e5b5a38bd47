"""`migrate_shards`: brings what is behind up to date, says what is current."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from infra.sharding.management.commands.migrate_shards import Command
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all


def migrate(**options):
    out = StringIO()
    call_command("migrate_shards", stdout=out, verbosity=1, **options)
    return out.getvalue()


def test_databases_that_are_current_are_left_alone(world):
    assert migrate() == "".join(f"{alias}: current\n" for alias in all_aliases())


def test_one_database_is_brought_up_to_date(world):
    """A shard that lacks the table of one app, as a shard does that was just added."""
    recorder = MigrationRecorder(connections["shard1"])
    recorder.record_unapplied("markers", "0001_initial")
    execute("shard1", "DROP TABLE markers_marker")
    assert migrate(shard="shard2") == "shard2: current\n"
    assert migrate(shard="shard1").startswith("shard1: 1 migrations to apply\n")
    assert fetch_all("shard1", "SELECT * FROM markers_marker") == []
    assert migrate(shard="shard1") == "shard1: current\n"


def test_unknown_database_is_refused():
    parser = Command().create_parser("manage.py", "migrate_shards")
    with pytest.raises(CommandError, match="shard99"):
        parser.parse_args(["--shard", "shard99"])
