"""Rows go to their owner's shard, statements to where their tables live; the rest is refused."""

import pytest
from django.db import DatabaseError, connection, connections, transaction

from accounts.models import Account, User
from counters.models import Counter
from infra.sharding import buckets
from infra.sharding.buckets import bucket_map, group_by_shard, shard_of
from infra.sharding.errors import ShardNotChosen, UnmappedBucket, WrongPlacement, WrongShard
from infra.sharding.models import Bucket
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all, fetch_one

OWNER = 1


def counter(owner_id=OWNER, **values):
    return Counter(owner_id=owner_id, subject=0, kind=1, value=3, version=1, **values)


def other_shard(owner_id=OWNER):
    return next(alias for alias in all_aliases()[1:] if alias != shard_of(owner_id))


def counters_on(alias):
    return fetch_one(alias, "SELECT count(*) FROM counters_counter")[0]


def test_map_is_complete_and_read_once(world, monkeypatch):
    assert len(bucket_map()) == 16_384
    assert set(bucket_map()) == set(all_aliases()[1:])
    monkeypatch.setattr(buckets, "fetch_all", None)
    monkeypatch.setattr(buckets, "fetch_one", None)
    assert shard_of(16_385) == shard_of(1)


def test_owners_are_grouped_in_the_order_they_came(world):
    groups = group_by_shard([5, 1, 9, 2, 1029])
    assert [shard_of(5), shard_of(2)] == list(groups)
    assert groups[shard_of(5)] == [5, 1, 9, 1029]


@pytest.mark.parametrize("spoil", [lambda b: b.delete(), lambda b: b.update(alias="shard99")])
def test_map_with_a_hole_is_refused(world, spoil):
    rows = Bucket.objects.using("default").filter(bucket=7)
    kept = rows.get().alias
    try:
        spoil(rows)
        with pytest.raises(UnmappedBucket, match="first 7"):
            buckets._read_map()
    finally:
        Bucket.objects.using("default").update_or_create(bucket=7, defaults={"alias": kept})


def test_row_is_saved_on_its_owners_shard(world):
    counter().save(using=shard_of(OWNER))
    row = Counter.objects.of(OWNER).get()
    assert row._state.db == shard_of(OWNER)
    row.value = 4
    row.save()
    row.refresh_from_db()
    assert (row.value, counters_on(shard_of(OWNER))) == (4, 1)


KEY = {"owner_id": OWNER, "subject": 0, "kind": 1}
REST = {"value": 0, "version": 1}


@pytest.mark.parametrize(
    "write",
    [
        lambda alias: counter().save(using=alias),
        lambda alias: counter().save(using=alias, force_insert=True),
        lambda alias: Counter.objects.on(alias).bulk_create([counter()]),
        lambda alias: Counter.objects.on(alias).bulk_create([counter(owner_on(alias)), counter()]),
        lambda alias: Counter.objects.on(alias).create(**KEY, **REST),
        lambda alias: Counter.objects.on(alias).get_or_create(**KEY, defaults=REST),
        lambda alias: Counter._base_manager.using(alias).bulk_create([counter()]),
    ],
)
def test_row_of_a_foreign_owner_is_refused(world, write):
    alias = other_shard()
    with pytest.raises(WrongShard, match=f"owner {OWNER} belongs on {shard_of(OWNER)}"):
        write(alias)
    assert counters_on(alias) == 0


def owner_on(alias):
    return next(owner for owner in range(1, 1025) if shard_of(owner) == alias)


def test_owner_may_be_the_primary_key(world):
    with pytest.raises(WrongShard):
        Account(id=OWNER, username="x").save(using=other_shard())


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Counter.objects.count(),
        lambda: list(Counter.objects.filter(owner_id=OWNER)),
        lambda: Counter.objects.filter(owner_id=OWNER).update(value=0),
        lambda: Counter.objects.filter(owner_id=OWNER).delete(),
        lambda: Counter.objects.bulk_create([counter()]),
        lambda: counter().save(),
        lambda: counter().delete(),
    ],
)
def test_query_that_was_not_told_its_shard_is_refused(world, ask):
    with pytest.raises(ShardNotChosen):
        ask()


SHARDED_SQL = "SELECT value FROM counters_counter WHERE owner_id = 1"
GLOBAL_SQL = "SELECT username FROM accounts_user"


@pytest.mark.parametrize(
    "sql",
    [
        SHARDED_SQL,
        'SELECT * FROM "counters_counter"',
        "select * from public.counters_counter",
        'INSERT INTO "public"."counters_counter" VALUES (1, 0, 1, 1, 1)',
        "WITH x AS (SELECT 1) SELECT * FROM x,counters_counter c",
        "UPDATE counters_counter SET value = 0",
        "DELETE FROM\ncounters_counter",
        "LOCK TABLE counters_counter",
    ],
)
def test_sharded_table_without_a_chosen_connection(world, sql):
    """Django's `connection` is the default database."""
    with pytest.raises(WrongPlacement, match="counters_counter"), connection.cursor() as cursor:
        cursor.execute(sql)


def test_sharded_table_in_a_transaction_without_a_chosen_database(world):
    with pytest.raises(WrongPlacement), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SHARDED_SQL)


def test_many_statements_at_once_are_guarded_too(world):
    sql = "INSERT INTO counters_counter VALUES (%s, 0, 1, 1, 1)"
    with pytest.raises(WrongPlacement), connection.cursor() as cursor:
        cursor.executemany(sql, [(1,), (2,)])


def test_global_table_on_a_shard(world):
    for alias in all_aliases()[1:]:
        with pytest.raises(WrongPlacement, match="accounts_user"):
            fetch_all(alias, GLOBAL_SQL)
        with pytest.raises(WrongPlacement):
            User.objects.using(alias).first()


def test_refusal_is_a_database_error_and_rolls_back(world):
    with pytest.raises(DatabaseError), transaction.atomic(using="default"):
        User.objects.create(username="half")
        execute("default", SHARDED_SQL)
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("alias", "sql"),
    [
        ("default", "SELECT x_counters_counter FROM (SELECT 1) x(x_counters_counter)"),
        ("default", "SELECT 'counters_counterfeit'"),
        ("default", "SELECT id FROM changes_change"),
        ("shard0", "SELECT id FROM changes_change"),
        ("shard0", SHARDED_SQL),
        ("default", GLOBAL_SQL),
    ],
)
def test_statement_where_its_tables_live_goes_through(world, alias, sql):
    fetch_all(alias, sql)


def test_parameters_are_not_taken_for_tables(world):
    assert fetch_one("default", "SELECT %s::text", ["counters_counter"]) == ("counters_counter",)


def test_guard_is_there_again_after_a_reconnect(world):
    connections["default"].close()
    with pytest.raises(WrongPlacement):
        fetch_all("default", SHARDED_SQL)
    wrappers = [w.__name__ for w in connections["default"].execute_wrappers]
    assert wrappers.count("guard_statement") == 1
