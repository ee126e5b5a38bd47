"""A process that learns of a new shard, and has no URL of it."""

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.errors import UnmappedBucket
from infra.sharding.map_changes import list_shard
from infra.sharding.map_copy import MapCopy
from infra.sharding.placement import known_shards
from infra.sharding.shards import all_aliases, shard_aliases
from infra.sharding.sql import execute


@pytest.fixture
def listed(world):
    shard_of(1)
    list_shard("shard4")
    yield "shard4"
    execute("default", "DELETE FROM sharding_shard")
    MapCopy.doubt()


def test_it_writes_nothing_that_would_leave_the_shard_out(listed, settings, tmp_path):
    for settings.SHARD_URLS_DIR in ("", str(tmp_path)):
        with pytest.raises(UnmappedBucket, match="SHARD_URLS_DIR"):
            shard_aliases()
        with pytest.raises(UnmappedBucket):
            shard_of(1)
    assert all_aliases() == ["default", *known_shards()]
    assert listed not in all_aliases()


def test_the_text_of_a_faulty_url_is_not_shown(listed, settings, tmp_path):
    (tmp_path / listed).write_text("mysql://ann:secret@localhost/x")
    settings.SHARD_URLS_DIR = str(tmp_path)
    with pytest.raises(UnmappedBucket, match="needs PostgreSQL") as refused:
        shard_aliases()
    assert "secret" not in str(refused.value)
