"""POOLED_DATABASE_URL and POOLED_SHARD_DATABASE_URLS: faults said at the start."""

import os
import subprocess
import sys

import pytest

from lab.runner.child import CHECKOUT

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
def test_faults(urls, fault):
    said = settings_of(POOLED_SHARD_DATABASE_URLS=urls).stderr
    assert f"  - {fault}" in said
