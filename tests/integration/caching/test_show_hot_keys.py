"""The command that shows hot keys."""

import json
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching import fleet_reads
from infra.caching.fleet_reads import add_reads


def show(**options):
    """Without the keys of other tests: this process may report its reads of them at any time."""
    out = StringIO()
    call_command("show_hot_keys", stdout=out, **options)
    lines = out.getvalue().splitlines()
    return [line for line in lines if "tests.hot" in line or "reads/s" in line]


@pytest.fixture
def warm(cache, settings):
    settings.HOT_KEY_READS = 1_000
    add_reads({b"tests.hot:v1:{1}": 20_000, b"tests.hot:v1:{2}": 100}, time.time())


@pytest.fixture
def redis_away(monkeypatch):
    def refuse():
        raise RedisConnectionError("refused")

    monkeypatch.setattr(fleet_reads, "redis", refuse)


def test_command_shows_the_most_read_first(warm):
    header, first, second = show()
    assert header.split() == ["reads/s", "hot", "key"]
    assert first.split()[1:] == ["yes", "tests.hot:v1:{1}"]
    assert second.split()[1:] == ["tests.hot:v1:{2}"]


def test_command_as_json(warm):
    first, second = map(json.loads, show(json=True))
    assert (first["key"], first["is_hot"]) == ("tests.hot:v1:{1}", True)
    assert first["reads_s"] > 1_000
    assert (second["key"], second["is_hot"]) == ("tests.hot:v1:{2}", False)


def test_command_says_that_redis_is_away(redis_away):
    with pytest.raises(CommandError, match="Redis is away: refused"):
        show()
