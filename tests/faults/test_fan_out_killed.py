"""A fan-out whose drain is killed with -9, or whose readers' shard is: every live follower has
each entry, and their page shows it once."""

from signal import SIGKILL

import pytest
from django.db import connections

from infra.changes.compensate import compensate
from infra.changes.lag import list_lane_lags
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from infra.sharding.sql import execute, fetch_all
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.timelines.homes import first_page
from tests.integration.timelines.many_followers import each, have, make_live, write_followers
from tests.loaded_process import run_loaded
from tests.private_world import whole
from tests.server_faults import kill
from tests.world import drain_all, find_live, make_accounts, publish
from timelines.recent.low_water_mark import lower_low_water_mark
from timelines.types import Entry

# Drains all lanes of a database; the n-th time at the failpoint it is gone.
SCRIPT = """
import itertools, os, signal, sys
import django
django.setup()
from django.conf import settings
from infra.changes.compensate import compensate
from infra.changes.failpoints import arm
alias, place, nth, inline, chunk = sys.argv[1:]
settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = int(inline), int(chunk)
passed = itertools.count(1)
def gone():
    if next(passed) == int(nth):
        os.kill(os.getpid(), signal.SIGKILL)
arm(place, gone)
while list(compensate(alias)):
    pass
"""
CHUNK_FOLLOWERS = 30
FOLLOWERS = 200
PLACES = [
    ("drain.after_filing", 1),  # of the post: the dispatch is written, nothing is cut
    ("drain.after_filing", 2),  # of the dispatch: chunks are written, none is pushed
    ("drain.before_commit", 2),
    ("fan_out.page_pushed", 1),
    ("fan_out.page_pushed", 4),  # pushed, and not filed
    ("drain.before_filing", 5),
]


def drain_and_die(alias, place, nth, inline=5):
    numbers = [str(one) for one in (nth, inline, CHUNK_FOLLOWERS)]
    return run_loaded("-c", SCRIPT, alias, place, *numbers)[0]


def drain_what_the_dead_held():
    """The lease of a killed drain ends when its server notices: in a moment, not at once."""
    while any(lag.pending for alias in all_aliases() for lag in list_lane_lags(alias)):
        drain_all()


@pytest.mark.parametrize(("place", "nth"), PLACES)
def test_kill_9_anywhere_in_a_fan_out(world, settings, place, nth):
    settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = 5, CHUNK_FOLLOWERS
    author, reader = make_accounts(2)
    follow(reader, author)
    crowd = write_followers(author, FOLLOWERS)
    drain_all()
    make_live(crowd)
    first_page(reader)
    post = publish(author)
    assert drain_and_die(shard_of(author), place, nth) == -SIGKILL
    drain_what_the_dead_held()
    assert have(crowd) == each(crowd, post)
    assert first_page(reader) == [post.public]
    filed = "SELECT count(*) FROM changes_delivered WHERE kind = 'timelines.chunk_cut'"
    assert fetch_all(shard_of(author), filed) == [(7,)], "dispatched once"


@pytest.mark.parametrize("inline", [5, 500])
def test_kill_9_between_the_index_and_the_push(world, settings, inline):
    """A reader who rebuilds in the meantime finds the post in the index; the push repeats it."""
    settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = inline, CHUNK_FOLLOWERS
    author, between, later = make_accounts(3)
    follow(between, author)
    follow(later, author)
    crowd = write_followers(author, FOLLOWERS)
    drain_all()
    for alias in settings.SHARD_ALIASES:
        lower_low_water_mark(alias, 0)
    make_live(crowd)
    post = publish(author)
    assert drain_and_die(shard_of(author), "fan_out.indexed", 1, inline) == -SIGKILL
    assert have(crowd) == each(crowd)
    with count_calls() as calls:
        assert first_page(between) == [post.public]
    pulled = [one.alias for one in calls.statements if "timelines_recentpost" in one.sql]
    assert pulled == [shard_of(between)], "from the index of the reader's own shard"
    drain_what_the_dead_held()
    assert [arrivals(reader) for reader in crowd] == [[post]] * FOLLOWERS
    assert arrivals(between) == [post, post]
    assert first_page(between) == first_page(later) == [post.public]


def arrivals(reader_id):
    """The entries of a live timeline, with repeats."""
    return [entry.event for entry in Entry.split(find_live(reader_id).data)]


@pytest.mark.parametrize("inline", [5, 500])
def test_readers_of_a_dead_shard_wait_and_all_others_do_not(private, settings, inline):
    settings.INLINE_FOLLOWERS, settings.CHUNK_FOLLOWERS = inline, CHUNK_FOLLOWERS
    with whole(private) as services:
        author = next(one for one in make_accounts(4) if shard_of(one) == "shard0")
        crowd = write_followers(author, 100)
        drain_all()
        make_live(crowd)
        kill(services.postgres["shard2"])
        connections["shard2"].close()
        post = publish(author)
        drain_living()
        theirs = [one for one in crowd if shard_of(one) == "shard2"]
        others = [one for one in crowd if shard_of(one) != "shard2"]
        assert have(others) == each(others, post)
        assert have(theirs) == each(theirs)
        services.postgres["shard2"].start()
        connections["shard2"].close()
        execute("shard0", "UPDATE changes_change SET next_attempt_at = clock_timestamp()")
        drain_all()
        assert have(crowd) == each(crowd, post)
        indexed = "SELECT moment FROM timelines_recentpost WHERE author_id = %s"
        assert fetch_all("shard2", indexed, (author,)) == [(post.moment,)]


def drain_living():
    while sum(report.delivered for report in compensate("shard0")):
        pass
