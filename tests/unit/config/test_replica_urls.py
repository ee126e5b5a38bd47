"""SHARD_REPLICA_URLS: one entry a shard, some of them empty, and faults said at the start."""

import os
import subprocess
import sys

import pytest

from config.environment import Environment
from lab.runner.child import CHECKOUT

SHARDS = ["postgresql://a/0", "postgresql://b/1"]
NAME = "SHARD_REPLICA_URLS"


def per_shard(monkeypatch, value: str) -> tuple[list[list[str]], list[str]]:
    monkeypatch.setenv(NAME, value)
    environment = Environment()
    return environment.per_shard(NAME, SHARDS), environment.faults


@pytest.mark.parametrize("value", ["", " "])
def test_none_is_the_default(monkeypatch, value):
    assert per_shard(monkeypatch, value) == ([[], []], [])
    monkeypatch.delenv(NAME)
    assert Environment().per_shard(NAME, SHARDS) == [[], []]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("postgresql://c/0,postgresql://d/1", [["postgresql://c/0"], ["postgresql://d/1"]]),
        (", postgresql://d/1", [[], ["postgresql://d/1"]]),
        ("postgresql://c/0,", [["postgresql://c/0"], []]),
        (
            "postgresql://c/0 | postgresql://e/0,postgresql://d/1",
            [["postgresql://c/0", "postgresql://e/0"], ["postgresql://d/1"]],
        ),
    ],
)
def test_entries_are_in_the_order_of_the_shards(monkeypatch, value, found):
    assert per_shard(monkeypatch, value) == (found, [])


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("postgresql://c/0", "1 entries for 2 shards"),
        ("postgresql://c/0,postgresql://d/1,postgresql://e/2", "3 entries for 2 shards"),
        ("postgresql://a/0,", "names a shard as a replica"),
        ("postgresql://c/0,postgresql://c/0", "names one replica twice"),
        ("postgresql://c/0|postgresql://c/0,", "names one replica twice"),
        ("postgresql://c/0|,", "there must be a URL before and after each |"),
        ("|,postgresql://c/0", "there must be a URL before and after each |"),
        ("postgresql://u:secret|word@c/0,", "there must be a URL before and after each |"),
    ],
)
def test_faults(monkeypatch, value, fault):
    _, (said,) = per_shard(monkeypatch, value)
    assert said.startswith(f"{NAME}: {fault}")
    assert "secret" not in said
    assert "word" not in said


def check(**environment: str) -> subprocess.CompletedProcess[str]:
    """What a process with these settings says at its start."""
    shown = (
        "from django.conf import settings as s; print(s.REPLICA_ALIASES);"
        " print(s.DATABASES.get('shard1_replica1'))"
    )
    return subprocess.run(
        [sys.executable, "-c", shown],
        env={"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings"}
        | {"DEVELOPMENT": "1", "SHARD_DATABASE_URLS": ",".join(SHARDS)}
        | environment,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_process_says_what_is_wrong_and_does_not_start():
    done = check(SHARD_REPLICA_URLS="postgresql://c/0,mysql://d/1")
    assert done.returncode == 1
    assert f"{NAME}[1][0]: Tideline needs PostgreSQL" in done.stderr


def test_process_has_a_read_only_database_for_each_replica():
    done = check(SHARD_REPLICA_URLS=",postgresql://d/0|postgresql://d/1", REPLICA_TIMEOUT_MS="700")
    aliases, database = done.stdout.splitlines()
    assert aliases == "{'shard0': [], 'shard1': ['shard1_replica0', 'shard1_replica1']}"
    assert "default_transaction_read_only=on -c statement_timeout=700" in database
    assert "'answer_s': 0.7" in database
