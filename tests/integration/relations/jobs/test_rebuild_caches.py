"""rebuild relation-caches makes the cached lists equal to the rows."""

import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from infra.jobs.types import Work
from relations.cache import FOLLOWERS, FOLLOWING, QUIET, RELATIONSHIPS, member_of
from relations.jobs.rebuild_relation_caches import rebuild_relation_caches
from relations.queries.edge_lists import (
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    OWN_FOLLOWING_LIST,
    list_page,
)
from relations.queries.relationships import load_relationships
from relations.verbs import RebuildRelationCaches
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.busy import Busy, drainer, toggler
from tests.integration.relations.jobs.damage import make_network
from tests.world import drain_all

LISTS = (FOLLOWING_LIST, FOLLOWERS_LIST, OWN_FOLLOWING_LIST)


def pages(people):
    return [list_page(one, p, Window(9)).items for one in LISTS for p in people]


def everything_cached():
    keys = sorted(redis().call("KEYS", "relations.*"))
    return dict(zip(keys, redis().run([("DUMP", key) for key in keys]), strict=True))


def add_stranger(net):
    redis().call("ZADD", FOLLOWERS.key(net.ann), 10**12, member_of(net.eve))
    return f"account {net.ann}: relations.followers:v1"


def lose_followee(net):
    redis().call("ZREM", FOLLOWING.key(net.ann), member_of(net.bob))
    return f"account {net.ann}: relations.following:v1"


def lose_secret(net):
    redis().call("ZREM", QUIET.key(net.bob), member_of(net.ann))
    return f"account {net.bob}: relations.quiet:v1"


def fall_behind(net):
    redis().call("ZADD", FOLLOWING.key(net.ann), -1, "whole")
    return f"account {net.ann}: relations.following:v1"


def run_ahead(net):
    redis().call("ZADD", FOLLOWERS.key(net.ann), -900, "whole")
    redis().call("ZREM", FOLLOWERS.key(net.ann), member_of(net.cyd))
    return f"account {net.ann}: relations.followers:v1"


@pytest.mark.parametrize(
    "damage", [add_stranger, lose_followee, lose_secret, fall_behind, run_ahead]
)
def test_list_that_differs_is_replaced(world, damage):
    net = make_network()
    right = pages(net)
    line = damage(net)
    damaged = everything_cached()
    dry = Outcome(RebuildRelationCaches(), "--dry-run")
    assert dry.out.splitlines() == [line, "5 accounts looked at, 1 would change, 0 failed"]
    assert everything_cached() == damaged
    done = Outcome(RebuildRelationCaches(), "--batch-size", "2")
    assert done.out.splitlines() == [line, "5 accounts done, 1 changed, 0 failed"]
    assert pages(net) == right
    before = everything_cached()
    assert Outcome(RebuildRelationCaches()).out == "5 accounts done, 0 changed, 0 failed\n"
    assert everything_cached() == before


def test_what_is_not_cached_stays_so(world):
    make_network()
    redis().call("FLUSHDB")
    assert Outcome(RebuildRelationCaches()).out == "5 accounts done, 0 changed, 0 failed\n"
    assert everything_cached() == {}


def test_what_is_remembered_of_pairs_is_dropped(world):
    net = make_network()
    right = load_relationships(net.ann, net)
    redis().call("HSET", RELATIONSHIPS.key(net.ann), net.bob, b"3.")
    assert load_relationships(net.ann, net) != right
    line = f"account {net.ann}: relations.relationship:v4"
    assert line in Outcome(RebuildRelationCaches(), "--account", str(net.ann), "--dry-run").out
    assert load_relationships(net.ann, net) != right
    assert line in Outcome(RebuildRelationCaches(), "--account", str(net.ann)).out
    assert load_relationships(net.ann, net) == right


def test_only_the_shard_that_was_asked_for(world):
    net = make_network()
    pages(net)
    lose_followee(net)
    others = {f"shard{n}" for n in range(4)} - {f"shard{net.ann % 4}"}
    for alias in sorted(others):
        assert " 0 changed" in Outcome(RebuildRelationCaches(), "--shard", alias).out
    assert " 1 changed" in Outcome(RebuildRelationCaches(), "--shard", f"shard{net.ann % 4}").out


def test_beside_writers_lists_end_right(world, settings):
    settings.FOLLOWS_PER_DAY = 1_000_000
    net = make_network()
    pages(net)
    work = Work(settings.SHARD_ALIASES)
    with Busy(toggler(net.ann, net.bob), toggler(net.eve, net.bob), drainer) as busy:
        for _ in range(20):
            list(rebuild_relation_caches(work))
            pages(net)
    assert busy.rounds
    drain_all()
    cached = pages(net)
    redis().call("FLUSHDB")
    assert cached == pages(net)
