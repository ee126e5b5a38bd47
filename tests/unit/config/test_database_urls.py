"""Options of a database URL and those of Tideline: both hold, and the URL wins.

POOLED_DATABASE_URL and POOLED_SHARD_DATABASE_URLS: faults said at the start.

SHARD_REPLICA_URLS: one entry a shard, some of them empty, and faults said at the start.

SHARD_DATABASE_URLS: separated by commas, which also stand between the servers of a shard.
"""

import os
import subprocess
import sys

import pytest

from config.environment import Environment, merge_options, session_options
from lab.runner.child import CHECKOUT

OURS = {"connect_timeout": 3, "options": session_options(statement_timeout=20_000)}


def options_of(query):
    config = Environment().database("DATABASE_URL", f"postgresql://db/tideline{query}")
    return merge_options(OURS, config.get("OPTIONS"))


def test_url_without_options_has_ours():
    assert options_of("") == {
        "connect_timeout": 3,
        "options": "-c jit=off -c statement_timeout=20000",
    }


def test_options_of_a_url_are_added_and_come_last():
    found = options_of("?options=-c%20statement_timeout%3D5s%20-c%20work_mem%3D8MB&sslmode=require")
    assert found == {
        "connect_timeout": 3,
        "sslmode": "require",
        "options": "-c jit=off -c statement_timeout=20000 -c statement_timeout=5s -c work_mem=8MB",
    }


def test_other_option_of_a_url_replaces_ours():
    assert options_of("?connect_timeout=9")["connect_timeout"] == 9


def test_replica_has_them_too():
    url = "postgresql://db/tideline?options=-c%20work_mem%3D8MB"
    config = Environment().replica("SHARD_REPLICA_URLS[0]", url, {}, "shard0", 500)
    assert config["OPTIONS"]["options"] == (
        "-c jit=off -c default_transaction_read_only=on -c statement_timeout=500 -c work_mem=8MB"
    )


SHOWN = """
from django.conf import settings
print({alias: entry["PORT"] for alias, entry in settings.POOLED_DATABASES.items()})
"""
POOL = "postgresql://web@127.0.0.1:6432"


def settings_of(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SHOWN],
        env={"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings"}
        | {"DEVELOPMENT": "1", "SHARD_DATABASE_URLS": "postgresql://a@x/0,postgresql://a@y/1"}
        | environment,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, "{}"),
        ({"POOLED_DATABASE_URL": f"{POOL}/default"}, "{'default': 6432}"),
        ({"POOLED_SHARD_DATABASE_URLS": f",{POOL}/shard1"}, "{'shard1': 6432}"),
        (
            {"POOLED_SHARD_DATABASE_URLS": f"{POOL}/shard0,{POOL}/shard1"},
            "{'shard0': 6432, 'shard1': 6432}",
        ),
    ],
)
def test_each_database_may_have_a_pool(environment, found):
    assert settings_of(**environment).stdout.strip() == found


@pytest.mark.parametrize(
    ("urls", "fault"),
    [
        (f"{POOL}/shard0", "POOLED_SHARD_DATABASE_URLS: 1 entries for 2 shards"),
        (
            f"{POOL}/shard0?options=-c%20jit%3Doff,",
            "the pooled URL of shard0: a pool takes no options",
        ),
        ("postgresql://a@127.0.0.1/s,", "the pooled URL of shard0: needs a role of its own"),
        ("postgresql://127.0.0.1/s,", "the pooled URL of shard0: needs a role of its own"),
    ],
)
def test_faults_of_pooled_urls(urls, fault):
    said = settings_of(POOLED_SHARD_DATABASE_URLS=urls).stderr
    assert f"  - {fault}" in said


SHARDS = ["postgresql://a/0", "postgresql://b/1"]
REPLICA_NAME = "SHARD_REPLICA_URLS"


def per_shard(monkeypatch, value: str) -> tuple[list[list[str]], list[str]]:
    monkeypatch.setenv(REPLICA_NAME, value)
    environment = Environment()
    return environment.per_shard(REPLICA_NAME, SHARDS), environment.faults


@pytest.mark.parametrize("value", ["", " "])
def test_none_is_the_default(monkeypatch, value):
    assert per_shard(monkeypatch, value) == ([[], []], [])
    monkeypatch.delenv(REPLICA_NAME)
    assert Environment().per_shard(REPLICA_NAME, SHARDS) == [[], []]


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
def test_faults_of_replica_urls(monkeypatch, value, fault):
    _, (said,) = per_shard(monkeypatch, value)
    assert said.startswith(f"{REPLICA_NAME}: {fault}")
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
    assert f"{REPLICA_NAME}[1][0]: Tideline needs PostgreSQL" in done.stderr


def test_process_has_a_read_only_database_for_each_replica():
    done = check(SHARD_REPLICA_URLS=",postgresql://d/0|postgresql://d/1")
    aliases, database = done.stdout.splitlines()
    assert aliases == "{'shard0': [], 'shard1': ['shard1_replica0', 'shard1_replica1']}"
    assert "default_transaction_read_only=on -c statement_timeout=500" in database
    assert "'answer_s': 0.5" in database


NAME = "SHARD_DATABASE_URLS"


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("postgresql://a/0,postgresql://b/1", ["postgresql://a/0", "postgresql://b/1"]),
        (" postgresql://a/0 , postgres://b/1,", ["postgresql://a/0", "postgres://b/1"]),
        (
            "postgresql://u@a:1,b:2/0?target_session_attrs=read-write,postgresql://c/1",
            ["postgresql://u@a:1,b:2/0?target_session_attrs=read-write", "postgresql://c/1"],
        ),
        (
            "postgresql:///0?host=/a,/b&port=1,2, postgresql://c/1",
            ["postgresql:///0?host=/a,/b&port=1,2", "postgresql://c/1"],
        ),
        ("", []),
    ],
)
def test_commas_separate_urls_and_servers(monkeypatch, value, urls):
    monkeypatch.setenv(NAME, value)
    assert Environment().urls(NAME, ["postgresql://default/0"]) == urls


def test_default_counts_only_when_it_is_unset(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    assert Environment().urls(NAME, ["postgresql://default/0"]) == ["postgresql://default/0"]


def test_several_servers_reach_the_driver_in_their_order():
    config = Environment().database(NAME, "postgresql://u:p@a:1,b:2/name?target_session_attrs=any")
    assert (config["HOST"], config["PORT"], config["NAME"]) == ("a,b", "1,2", "name")
    config = Environment().database(NAME, "postgresql:///name?host=/a,/b&port=1,2")
    assert (config["HOST"], config["PORT"]) == ("/a,/b", "1,2")


def test_url_that_lacks_its_scheme_is_a_fault(monkeypatch):
    """Else its text would be the end of the name of the database before it."""
    monkeypatch.setenv(NAME, "postgresql://a/0,b:5432/1")
    environment = Environment()
    (url,) = environment.urls(NAME, [])
    environment.database(f"{NAME}[0]", url)
    assert environment.faults == [
        f"{NAME}[0]: the database's name has a comma; each URL begins with postgresql://"
    ]
