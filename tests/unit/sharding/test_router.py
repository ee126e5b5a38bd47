"""The router: GLOBAL uses default, other models must name a database; migrations by placement.

The even map of a new installation, and owners to buckets.

Sets of buckets: exactly the buckets that were meant, with the smallest mask.

What a client of a pool may not say, with or without a PgBouncer at hand.
"""

from collections import Counter as Tally
from fractions import Fraction

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Account, User
from config.environment import Environment
from counters.models import Counter
from infra.changes.models import Change
from infra.sharding.buckets import (
    BUCKET_COUNT,
    BucketSet,
    bucket_of,
    describe_buckets,
    even_map,
    take_share,
)
from infra.sharding.errors import ShardNotChosen
from infra.sharding.placement import Placement
from infra.sharding.pooled.use import USES, needs_session
from infra.sharding.router import PlacementRouter
from infra.sharding.sql import functions_of
from relations.models import ForwardEdge

ROUTER = PlacementRouter()


@pytest.mark.parametrize("model", [User, Session])
def test_global_models_go_to_the_default_database(model):
    assert ROUTER.db_for_read(model) == ROUTER.db_for_write(model) == "default"


@pytest.mark.parametrize("model", [Account, Counter, ForwardEdge, Change])
def test_others_are_refused_until_a_shard_is_chosen(model):
    for ask in (ROUTER.db_for_read, ROUTER.db_for_write):
        with pytest.raises(ShardNotChosen, match=model._meta.label):
            ask(model)


def test_query_that_chose_no_shard_is_refused():
    with pytest.raises(ShardNotChosen):
        Counter.objects.filter(owner_id=1).first()
    with pytest.raises(ShardNotChosen):
        Counter(owner_id=1, subject=0, kind=1, value=0, version=1).save()


def test_row_that_was_read_knows_its_shard():
    row = Counter(owner_id=1)
    row._state.db = "shard1"
    assert ROUTER.db_for_write(Counter, instance=row) == "shard1"


@pytest.mark.parametrize(
    ("app", "model", "default", "shard"),
    [
        ("accounts", "user", True, False),
        ("accounts", "account", False, True),
        ("counters", "counter", False, True),
        ("changes", "change", True, True),
        ("sharding", "bucket", True, False),
        ("sessions", "session", True, False),
        ("auth", "permission", True, False),
    ],
)
def test_tables_are_made_where_the_placement_says(app, model, default, shard):
    assert ROUTER.allow_migrate("default", app, model) is default
    assert ROUTER.allow_migrate("shard0", app, model) is shard


def test_historical_model_is_placed_as_the_model_of_today():
    class Old:
        _meta = Counter._meta

    assert ROUTER.allow_migrate("shard0", "counters", "counter", model=Old) is True
    assert ROUTER.allow_migrate("default", "counters", "counter", model=Old) is False


def test_operation_without_a_model_goes_where_all_models_of_its_app_are():
    assert [ROUTER.allow_migrate(a, "changes") for a in ("default", "shard0")] == [True, True]
    assert [ROUTER.allow_migrate(a, "relations") for a in ("default", "shard0")] == [False, True]
    assert [ROUTER.allow_migrate(a, "auth") for a in ("default", "shard0")] == [True, False]


@pytest.mark.parametrize("app", ["accounts", "pages"])
def test_operation_of_an_app_with_several_placements_or_none_must_say(app):
    with pytest.raises(ShardNotChosen, match="placement"):
        ROUTER.allow_migrate("shard0", app)


@pytest.mark.parametrize("placement", Placement)
def test_operation_says_where_by_its_hint(placement):
    allowed = [
        ROUTER.allow_migrate(alias, "accounts", placement=placement.value)
        for alias in ("default", "shard0")
    ]
    on_default = placement in (Placement.GLOBAL, Placement.EVERYWHERE)
    assert allowed == [on_default, placement is not Placement.GLOBAL]


def test_relations_stay_on_one_database_and_in_one_placement():
    user, account = User(), Account(id=1)
    user._state.db, account._state.db = "default", "shard0"
    assert not ROUTER.allow_relation(user, account)
    other = Account(id=2)
    other._state.db = "shard1"
    assert not ROUTER.allow_relation(account, other)
    other._state.db = "shard0"
    assert ROUTER.allow_relation(account, other)


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 7])
def test_buckets_are_dealt_out_evenly(shards):
    names = [f"shard{n}" for n in range(shards)]
    counts = Tally(even_map(names))
    assert set(counts) == set(names)
    assert sum(counts.values()) == BUCKET_COUNT
    assert max(counts.values()) - min(counts.values()) <= 1


@given(st.integers(0, 2**63 - 1))
def test_every_account_has_a_bucket(account_id):
    assert bucket_of(account_id) == account_id % 16_384


def test_neighbouring_accounts_go_to_different_shards():
    shards = even_map(["shard0", "shard1", "shard2", "shard3"])
    assert {shards[bucket_of(n)] for n in range(1, 5)} == set(shards)


DEALT = range(0, BUCKET_COUNT, 4)


def test_a_quarter_of_a_shard_that_was_dealt_in_turn():
    quarter = take_share(DEALT, Fraction(1, 4))
    assert quarter == BucketSet(15, (0,))
    assert quarter.buckets() == list(range(0, BUCKET_COUNT, 16))
    assert quarter.size == 1024
    assert quarter.condition("owner_id") == "((owner_id & 15) = ANY ('{0}'::bigint[]))"


@pytest.mark.parametrize("share", ["1", "1/2", "1/3", "2/7", "1/4096"])
def test_any_share_of_what_is_owned(share):
    taken = take_share(DEALT, Fraction(share))
    assert {*taken.buckets()} <= {*DEALT}
    assert abs(taken.size - 4096 * Fraction(share)) < 1


def test_a_share_of_less_than_a_bucket_is_none():
    with pytest.raises(ValueError, match="less than one"):
        take_share(DEALT, Fraction(1, 10_000))


@given(st.sets(st.integers(0, BUCKET_COUNT - 1), min_size=1, max_size=40))
def test_a_set_is_exactly_its_buckets(buckets):
    described = describe_buckets(buckets)
    assert described.buckets() == sorted(buckets)
    assert described.size == len(buckets)


@given(st.integers(0, 2**63 - 1))
def test_the_condition_holds_for_wide_ids_as_for_their_buckets(owner):
    described = describe_buckets(DEALT)
    in_set = owner & described.mask in described.values
    assert in_set == (owner % BUCKET_COUNT in DEALT)


@pytest.mark.parametrize(
    "sql",
    [
        "SET jit = off",
        "  set session statement_timeout = 0",
        "RESET ALL",
        "DISCARD ALL",
        "PREPARE named AS SELECT 1",
        "EXECUTE named",
        "DEALLOCATE named",
        "LISTEN changes",
        "UNLISTEN *",
        "LOAD 'auto_explain'",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_advisory_lock_shared (1)",
        "SELECT pg_try_advisory_lock(1)",
        "SELECT pg_advisory_unlock_all()",
        "SELECT set_config('idle_session_timeout', '0', false)",
        "SELECT lastval()",
        "CREATE TEMPORARY TABLE a (b int)",
        "DECLARE a CURSOR WITH HOLD FOR SELECT 1",
    ],
)
def test_what_lasts_longer_than_a_transaction(sql):
    assert needs_session(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SET LOCAL statement_timeout = '1s'",
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "SELECT pg_advisory_xact_lock(1)",
        "SELECT pg_try_advisory_xact_lock(1)",
        "SELECT set_config('tideline.move', '1', true)",
        "UPDATE settings SET value = %s",
        "INSERT INTO a (text) VALUES (%s)",
    ],
)
def test_what_ends_with_its_transaction(sql):
    assert not needs_session(sql)


def test_functions_of_the_database_need_no_session():
    texts = [functions_of(label) for label in ("accounts", "counters", "posts", "relations")]
    assert [found[0] for text in texts if (found := USES.search(text))] == []
    assert apps.get_app_config("posts")


def test_a_pooled_connection_sends_no_parameters_at_its_start():
    """A pool refuses `options`; with ignore_startup_parameters they would be missing silently."""
    shard = connections["shard0"].copy()
    direct = shard.get_connection_params()
    assert "statement_timeout" in direct["options"]
    url = "postgresql://tideline_web@127.0.0.1:6432/shard0"
    shard.settings_dict = shard.settings_dict | Environment().pooled("a pool", url, {"USER": "own"})
    pooled = shard.get_connection_params()
    assert {"options", "is_pooled"} & {*pooled} == set()
    assert (pooled["user"], pooled["port"]) == ("tideline_web", 6432)
