"""caches purge and caches warm: families go and come back, and readers see nothing of it."""

import re
import time

import pytest
from django.core.management import CommandError

from accounts.cache import profiles
from accounts.queries.load import ask_accounts
from counters.cache import account_counts
from infra.caching.client import redis
from infra.caching.questions import answer
from infra.caching.values import Versioned
from infra.sharding.buckets import shard_of
from operations.verbs.caches import NOT_CACHES, PURGEABLE, PurgeCaches, WarmCaches
from tests.cached_values import begin
from tests.integration.jobs.outcomes import Outcome
from tests.people import cast
from tests.rules.texts import SOURCES
from tests.world import drain_all, publish
from timelines.hot.actions.heat import heat_author

FAMILIES = re.compile(r'"([a-z_]+(?:\.[a-z_]+)+):v[0-9]+')


def keys():
    """Without what a background thread of this process writes."""
    found = {key.decode() for key in redis().call("KEYS", "*")}
    return {key for key in found if not key.startswith("processes.reports:")}


def of(family):
    return {key for key in keys() if key.startswith(f"{family}:")}


people = cast(6, follows=5)


@pytest.fixture
def warm(people):
    profiles.load_many(people)
    account_counts.load_many(people)
    return people


def test_every_family_of_keys_is_declared():
    """A new one has to say whether it may be purged."""
    found = {name for path in SOURCES for name in FAMILIES.findall(path.read_text())}
    assert found == PURGEABLE.keys() | NOT_CACHES.keys()


def test_a_family_goes_and_others_are_left_alone(warm):
    before, mine = keys(), of("accounts.profile")
    assert len(mine) == len(warm)
    outcome = Outcome(PurgeCaches(), "--family", "accounts.profile")
    assert outcome.code == 0
    assert f"{len(warm)} changed, 0 failed" in outcome.out
    assert keys() == before - mine
    assert "0 changed" in Outcome(PurgeCaches(), "--family", "accounts.profile").out


def read_account(account_id):
    return answer(ask_accounts([account_id]))[account_id]


def test_copies_in_process_memory_go_too(warm):
    """They were made of the wrong entries, and no message would end them."""
    me = warm[0]
    right = read_account(me)
    wrong = b"9:%d:7,7,7,7,7,0" % (time.time() + 60)
    redis().call("SET", account_counts.key(me), wrong)
    assert read_account(me) == read_account(me) != right
    assert Outcome(PurgeCaches(), "--family", "counters.account", "--dry-run").code == 0
    assert read_account(me) != right
    assert Outcome(PurgeCaches(), "--family", "counters.account").code == 0
    assert read_account(me) == right


def test_slow_loader_cannot_lay_what_it_read_before_a_change(warm):
    """The change deleted the token of the load. The purge deletes the rest."""
    me = warm[0]
    tokens = begin(account_counts, me)
    account_counts.refresh({me: Versioned(1_000, b"new")})
    Outcome(PurgeCaches(), "--family", "counters.account")
    account_counts.write_many({me: Versioned(999, b"old")}, tokens)
    assert not of("counters.account")


def test_entries_of_old_layouts_go_too(world):
    redis().run(
        [
            ("SET", "timelines.home:v1:{7}", b"x"),
            ("SET", "timelines.home:v0:{7}", b"x"),
            ("SET", "timelines.homes:v1:{7}", b"x"),
            ("SET", "timelines.zset:v1:{7}:head", b"x"),
        ]
    )
    dry = Outcome(PurgeCaches(), "--family", "timelines.home", "--dry-run")
    assert sorted(dry.out.splitlines()[:2]) == ["timelines.home:v0:{7}", "timelines.home:v1:{7}"]
    assert "2 would change" in dry.out
    assert len(keys()) == 4
    Outcome(PurgeCaches(), "--family", "timelines.home", "--family", "timelines.zset")
    assert keys() == {"timelines.homes:v1:{7}"}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("caching.quota", "is not a cache: used quotas"), ("nobody.knows", "is not a family")],
)
def test_what_is_no_cache_is_refused(world, name, complaint):
    with pytest.raises(CommandError, match=complaint):
        Outcome(PurgeCaches(), "--family", name)


def test_limit_and_resume_go_through_all(world):
    names = [f"timelines.home:v1:{{{n}}}" for n in range(2_000)]
    redis().run([("SET", name, b"x") for name in names])
    flags = ("--family", "timelines.home", "--batch-size", "50")
    Outcome(PurgeCaches(), *flags, "--limit", "500")
    assert 0 < len(keys()) < 2_000
    for _ in range(40):
        Outcome(PurgeCaches(), *flags, "--limit", "500", "--resume")
        if not keys():
            break
    assert keys() == set()


def test_warm_lays_what_lacks_of_hot_authors_once(warm):
    hot = warm[0]
    heat_author(shard_of(hot), hot)
    publish(hot)
    drain_all()
    redis().call("FLUSHDB")
    dry = Outcome(WarmCaches(), "--dry-run")
    assert (keys(), "5 would change" in dry.out) == (set(), True)
    assert "1 accounts done, 5 changed" in Outcome(WarmCaches()).out
    laid = {key.partition(":")[0] for key in keys()}
    assert {"accounts.profile", "counters.account", "posts.week", "timelines.hot_entries"} <= laid
    assert "1 accounts done, 0 changed" in Outcome(WarmCaches()).out


def test_warm_those_of_an_announced_event(warm):
    """On all their shards, also if none of them is hot."""
    redis().call("FLUSHDB")
    named = [word for account in warm[:3] for word in ("--event", str(account))]
    assert "3 accounts done, 12 changed" in Outcome(WarmCaches(), *named).out
    laid = {profiles.key(account).decode() for account in warm[:3]}
    assert of("accounts.profile") == laid
    assert "3 accounts done, 0 changed" in Outcome(WarmCaches(), *named).out


def test_warm_one_account(warm):
    redis().call("FLUSHDB")
    assert "1 accounts done, 4 changed" in Outcome(WarmCaches(), "--account", str(warm[1])).out
    assert "0 changed" in Outcome(WarmCaches(), "--account", str(warm[1])).out
    assert profiles.load_many([warm[1]])
