"""A process notices that the bucket map has changed, and reads it again."""

import pytest
from django.db import connections, transaction

from infra.moving import AccountMoving, again_while_moving
from infra.sharding.buckets import BUCKET_COUNT, current_map, moved_at_ms, shard_of
from infra.sharding.map_copy import MapCopy
from infra.sharding.models import Bucket
from infra.sharding.sql import execute, fetch_one
from tests.budgets import count_calls

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
    rows.update(alias=BEFORE, moved_at=None)
    for alias in ("default", BEFORE):
        execute(alias, TELL, (0,))
    MapCopy.forget()


def reconnect(alias):
    connections[alias].close()
    fetch_one(alias, "SELECT 1")


def test_the_copy_stays_until_a_database_tells_of_a_later_map(moved):
    reconnect(BEFORE)
    assert shard_of(ACCOUNT) == BEFORE
    execute(BEFORE, TELL, (7,))
    reconnect(BEFORE)
    assert (shard_of(ACCOUNT), current_map().epoch) == (AFTER, 7)
    assert moved_at_ms(ACCOUNT) is not None
    assert moved_at_ms(ACCOUNT + 1) is None


def test_a_read_that_connects_with_an_old_map_begins_again(moved):
    execute(BEFORE, TELL, (7,))
    connections[BEFORE].close()
    asked = []

    def read():
        asked.append(shard_of(ACCOUNT))
        return fetch_one(asked[-1], "SELECT 1")

    assert again_while_moving(read, is_read=True) == (1,)
    assert asked == [BEFORE, AFTER]


def test_a_write_that_connects_does_not_begin_again(moved):
    """It may have committed something on another shard before. The guard stops it here."""
    execute(BEFORE, TELL, (7,))
    connections[BEFORE].close()
    write = [shard_of(ACCOUNT)].pop
    assert again_while_moving(lambda: fetch_one(write(), "SELECT 1"), is_read=False) == (1,)


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
