"""A process notices that the bucket map has changed, and reads it again.

A process that learns of a new shard, and has no URL of it.
"""

import pytest
from django.db import connections, transaction

from infra.moving import AccountMoving, again_while_moving, choosing_shards
from infra.sharding.buckets import BUCKET_COUNT, current_map, moved_at_ms, shard_of
from infra.sharding.errors import UnmappedBucket
from infra.sharding.map_changes import list_shard
from infra.sharding.map_copy import MapCopy
from infra.sharding.models import Bucket
from infra.sharding.placement import known_shards
from infra.sharding.shards import all_aliases, shard_aliases
from infra.sharding.sql import execute, fetch_one
from tests.budgets import count_calls
from tests.world import make_account, publish

BUCKET, BEFORE, AFTER = 8, "shard0", "shard1"
ACCOUNT = BUCKET + BUCKET_COUNT
TELL = "UPDATE sharding_databaseidentity SET map_epoch = %s"
REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'moved' USING ERRCODE = 'TL001'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON markers_marker FOR EACH ROW EXECUTE FUNCTION refuse()
"""


@pytest.fixture
def moved(world):
    """The bucket has moved, as the default database says; this process has the map of before."""
    assert shard_of(ACCOUNT) == BEFORE
    rows = Bucket.objects.filter(bucket=BUCKET)
    execute("default", "UPDATE sharding_bucket SET alias = %s, moved_at = now() WHERE bucket = %s",
            (AFTER, BUCKET))  # fmt: skip
    execute("default", TELL, (7,))
    yield
    MapCopy.forget()
    rows.update(alias=BEFORE, moved_at=None)
    for alias in ("default", BEFORE):
        execute(alias, TELL, (0,))
    MapCopy.forget()


def reconnect(alias):
    connections[alias].close()
    fetch_one(alias, "SELECT 1")


def test_a_connection_that_tells_of_a_later_map_fails_once(moved):
    """What uses it may have chosen this shard by the old map: rows may be missing there."""
    reconnect(BEFORE)
    assert shard_of(ACCOUNT) == BEFORE
    execute(BEFORE, TELL, (7,))
    with pytest.raises(AccountMoving):
        reconnect(BEFORE)
    assert (shard_of(ACCOUNT), current_map().epoch) == (AFTER, 7)
    assert moved_at_ms(ACCOUNT) is not None
    assert moved_at_ms(ACCOUNT + 1) is None
    reconnect(BEFORE)


def test_a_call_that_began_with_an_old_map_fails_when_another_has_read_the_new_one(moved):
    execute(BEFORE, TELL, (7,))
    with choosing_shards():
        chosen = shard_of(ACCOUNT)
        MapCopy.doubt()
        assert shard_of(ACCOUNT) == AFTER
        with pytest.raises(AccountMoving):
            reconnect(chosen)
    reconnect(BEFORE)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_call_that_connects_with_an_old_map_begins_again(moved, is_read):
    execute(BEFORE, TELL, (7,))
    connections[BEFORE].close()
    asked = []

    def ask():
        asked.append(shard_of(ACCOUNT))
        return fetch_one(asked[-1], "SELECT 1")

    assert again_while_moving(ask, is_read) == (1,)
    assert asked == [BEFORE, AFTER]


def test_a_write_that_has_committed_does_not_begin_again(moved):
    """It would write twice."""
    execute(BEFORE, TELL, (7,))
    connections[BEFORE].close()
    written = []

    def write():
        author = make_account()
        publish(author)
        written.append(author)
        connections[BEFORE].close()
        fetch_one(BEFORE, "SELECT 1")

    MapCopy.doubt()
    shard_of(ACCOUNT)
    execute(BEFORE, "UPDATE sharding_databaseidentity SET map_epoch = 8")
    with pytest.raises(AccountMoving):
        again_while_moving(write, is_read=False)
    assert len(written) == 1


def test_a_doubt_costs_one_short_query_while_the_map_is_the_same(world):
    shard_of(ACCOUNT)
    MapCopy.doubt()
    with count_calls() as calls:
        shard_of(ACCOUNT)
        shard_of(ACCOUNT)
    assert sum(calls.sql.values()) == 1


def test_a_write_that_meets_the_guard_takes_the_shard_of_then(moved, monkeypatch):
    tried = []

    def write():
        tried.append(shard_of(ACCOUNT))
        with transaction.atomic(using=tried[-1]):
            sql = "INSERT INTO markers_marker VALUES (%s, 1, '1', 1, now(), NULL)"
            execute(tried[-1], sql, (ACCOUNT,))

    with connections[BEFORE].cursor() as cursor:
        cursor.execute(REFUSE)
    try:
        again_while_moving(write, is_read=False)
    finally:
        with connections[BEFORE].cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE")
    assert tried == [BEFORE, AFTER]


def test_a_guard_that_stays_ends_the_patience(monkeypatch):
    monkeypatch.setattr("infra.moving.PATIENCE_S", 0.02)

    def refuse():
        raise AccountMoving("fenced")

    with pytest.raises(AccountMoving):
        again_while_moving(refuse, is_read=False)


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
