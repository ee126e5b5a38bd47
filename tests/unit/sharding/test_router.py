"""The router: GLOBAL uses default, other models must name a database; migrations by placement."""

import pytest
from django.contrib.sessions.models import Session

from accounts.models import Account, User
from counters.models import Counter
from infra.changes.models import Change
from infra.sharding.errors import ShardNotChosen
from infra.sharding.placement import Placement
from infra.sharding.router import PlacementRouter
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
