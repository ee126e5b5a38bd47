"""The recent-posts index by author: its rows move with their authors."""

import json
from contextlib import ExitStack, suppress

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from infra.caching.client import redis
from infra.moving import again_while_moving
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.ids import SEQUENCES
from tests.api_process import ApiProcess
from tests.callers import token_of
from tests.integration.moves.writers import make_friends
from tests.moving import SOURCE, TARGET, compare_shards, move, repeating
from tests.private_world import catch_up
from tests.world import drain_all, publish
from timelines.recent.low_water_mark import find_own_mark
from timelines.recent.queries.newest_posts import Wanted, read_all_shards

pytestmark = pytest.mark.slow
ROWS = "SELECT author_id, moment FROM timelines_recentpost WHERE author_id = ANY(%s)"
SET_MARK = "UPDATE timelines_lowwatermark SET complete_from = %s"


@pytest.fixture
def friends(settings, moving):
    """Two who move, then two who stay; all follow each other. TARGET has old rows of all of them,
    from when the index was replicated. `settings` ends last, because a move keeps its setting."""
    friends = make_friends("replicated")
    settings.RECENT_INDEX = "by_author"
    for one in friends:
        publish(one, "by author")
    catch_up()
    return friends


def list_rows(alias, authors):
    return {tuple(row) for row in fetch_all(alias, ROWS, (authors,))}


def home_of(process, token):
    status, text = process.do("GET", token, "/api/v1/timelines/home?limit=40")
    assert status == 200, text
    return {post["id"] for post in json.loads(text)}


def test_rows_move_there_and_back_under_load(friends):
    movers = friends[:2]

    def post():
        """As a request and a drainer do: they try again."""
        again_while_moving(lambda: publish(movers[0], "during"), is_read=False)
        with suppress(OperationalError):
            drain_all()

    before = list_rows(SOURCE, movers)
    assert list_rows(TARGET, movers), "the copy would meet them"
    with repeating(post) as errors:
        move()
    assert errors == []
    catch_up()
    assert {shard_of(mover) for mover in movers} == {TARGET}
    assert compare_shards() > 0
    there = list_rows(TARGET, movers)
    assert there > before
    assert there == list_rows(SOURCE, movers), "the way back is open"
    call_command("moves", "undo")
    assert list_rows(SOURCE, movers) == there
    assert list_rows(TARGET, movers) == set()
    move()
    call_command("moves", "complete")
    assert list_rows(TARGET, movers) == there
    assert list_rows(SOURCE, movers) == set()


def test_homes_and_newest_posts_are_whole(friends):
    """Also without packs in Redis, and from second one of what the index says that it has."""
    everything = {publish(one, "one more").public for one in friends}
    catch_up()
    second = int(max(moment for _, moment in list_rows(SOURCE, friends)) // SEQUENCES)
    execute(SOURCE, SET_MARK, (second,))
    execute(TARGET, SET_MARK, (0,))
    move()
    assert find_own_mark(TARGET) == second
    redis().call("FLUSHDB")
    with ExitStack() as stack:
        process = stack.enter_context(ApiProcess(RECENT_INDEX="by_author"))
        for one in friends:
            assert everything <= home_of(process, token_of(one))
    newest = read_all_shards(Wanted(100, (second + 10) * SEQUENCES))
    assert {post_id.author_id for post_id in newest} == {*friends}
    assert len(newest) == 3 * len(friends), "each post once"


def test_a_move_keeps_its_setting(friends, settings):
    move()
    settings.RECENT_INDEX = "replicated"
    with pytest.raises(CommandError, match="began with RECENT_INDEX=by_author"):
        call_command("moves", "complete")
    settings.RECENT_INDEX = "by_author"
