"""`make run` on data of another version of Tideline: one clear message, and nothing is changed."""

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from config.runner import prepare as module
from config.runner.errors import DataOfOtherVersion
from config.runner.prepare import prepare, refuse_other_version
from infra.sharding.placement import all_aliases
from tests.integration.config.digests import rows_digest


@pytest.fixture
def record(world):
    """Records migrations as applied; they are removed after the test."""
    recorded = []

    def record(alias, app, name):
        recorder = MigrationRecorder(connections[alias])
        recorder.record_applied(app, name)
        recorded.append((recorder, app, name))

    yield record
    for recorder, app, name in recorded:
        recorder.record_unapplied(app, name)


def test_data_of_this_version_is_accepted(world):
    for alias in all_aliases():
        refuse_other_version(alias)


@pytest.mark.parametrize(
    ("app", "name"),
    [("relations", "0002_of_an_older_layout"), ("an_app_that_was_renamed", "0001_initial")],
)
def test_unknown_migration_is_refused_with_the_remedy(record, monkeypatch, app, name):
    monkeypatch.setattr(module, "call_command", lambda *_, **__: pytest.fail("it went on"))
    record("shard1", app, name)
    before = rows_digest()
    with pytest.raises(DataOfOtherVersion) as refused:
        prepare()
    message = str(refused.value)
    assert f"the database shard1 records the migration {app}.{name}" in message
    assert "make clean" in message
    assert "DATA_DIR=" in message
    assert rows_digest() == before


def test_old_migration_of_a_package_is_accepted(record):
    record("default", "axes", "0000_of_an_older_release")
    refuse_other_version("default")
