"""When a post became visible on each shard: at its arrival, or later, and then it is settled.

Readers whose rows moved to another shard: no late post is lost, and no fan-out skips them.
"""

import time

import pytest
from django.conf import settings
from django.db import OperationalError

from infra.changes import failpoints
from infra.changes.failpoints import arm
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.ids import PostId
from relations.actions.follow import follow
from tests.dying import dying_at
from tests.integration.timelines.many_followers import each, have, make_live, write_followers
from tests.integration.timelines.slow_commits import slow_commits
from tests.world import drain_all, make_accounts, publish
from timelines.actions import fan_out
from timelines.catch_up.unread import find_arrived
from timelines.markers.types import MarkerState
from timelines.polling.late_posts import PolledAuthors, load_late_posts
from timelines.recent.actions import settle_posts
from timelines.recent.actions.index_posts import index_recent
from timelines.recent.packs import drop_packs
from timelines.recent.queries import late_rows
from timelines.recent.queries.late_rows import MOVE_MARGIN_MS, SKEW_MS, floor_after_move
from timelines.tags.queries.late_tagged import load_late_tagged
from timelines.types import Entry

ROW = "SELECT arrival, settled FROM timelines_recentpost WHERE author_id = %s AND moment = %s"
DUE = "UPDATE changes_change SET next_attempt_at = clock_timestamp()"

REPLICATED = pytest.mark.parametrize("each_index", ["replicated"], indirect=True)


@pytest.fixture
def followed(each_index, monkeypatch):
    monkeypatch.setattr(failpoints, "_armed", {})
    followed, follower = make_accounts(2)
    follow(follower, followed)
    drain_all()
    return followed


def settled(post):
    """By shard that has the post: whether it is settled after its arrival."""
    found = {alias: fetch_all(alias, ROW, (post.author_id, post.moment)) for alias in ALIASES}
    return {alias: late(*rows[0]) for alias, rows in found.items() if rows}


def where(post, value):
    """The value for each shard that must have the post."""
    is_by_author = settings.RECENT_INDEX == "by_author"
    return dict.fromkeys([shard_of(post.author_id)] if is_by_author else ALIASES, value)


def late(arrival, settled_at):
    return settled_at is not None and settled_at > arrival


ALIASES = settings.SHARD_ALIASES


def test_a_prompt_push_is_not_settled(followed):
    post = publish(followed)
    drain_all()
    assert settled(post) == where(post, False)


def test_an_author_has_the_post_before_the_index(followed):
    post = publish(followed)
    assert fetch_all(shard_of(followed), ROW, (followed, post.moment)) == []


def test_a_push_long_after_the_index_is_settled_everywhere(followed):
    post = publish(followed)
    arm("fan_out.indexed", lambda: time.sleep((settle_posts.SETTLE_MS + 50) / 1000))
    drain_all()
    assert settled(post) == where(post, True)


@pytest.mark.parametrize("place", ["fan_out.indexed", "fan_out.page_pushed", "fan_out.pushed"])
def test_a_drain_that_dies_after_the_index_is_repeated_and_settles(followed, place):
    post = publish(followed)
    with dying_at(place):
        drain_all()
    assert settled(post) == where(post, False)
    age(post, settle_posts.SETTLE_MS + 1)
    drain_all()
    assert settled(post) == where(post, True)


def age(post, by_ms):
    for alias in ALIASES:
        older = "UPDATE timelines_recentpost SET arrival = arrival - %s WHERE moment = %s"
        execute(alias, older, (by_ms, post.moment))
    drop_packs([post.author_id])


@REPLICATED
def test_a_shard_that_cannot_settle_gets_a_change_of_its_own(followed, monkeypatch):
    settle = settle_posts.settle_recent
    away = next(alias for alias in ALIASES if alias != shard_of(followed))

    def settle_unless_away(alias, events):
        if alias == away:
            raise OperationalError
        return settle(alias, events)

    monkeypatch.setattr(settle_posts, "settle_recent", settle_unless_away)
    post = publish(followed)
    arm("fan_out.indexed", lambda: time.sleep((settle_posts.SETTLE_MS + 50) / 1000))
    drain_all()
    failpoints.disarm("fan_out.indexed")
    age(post, settle_posts.SETTLE_MS + 1)
    drain_all()
    assert settled(post) == where(post, True)


def test_every_chunk_settles_the_post(small_pieces, followed):
    crowd = write_followers(followed, 30)
    make_live(crowd)
    post = publish(followed)
    arm("fan_out.page_pushed", lambda: age(post, settle_posts.SETTLE_MS + 1))
    drain_all()
    assert have(crowd) == each(crowd, post)
    assert settled(post) == where(post, True)


@REPLICATED
def test_readers_of_a_shard_that_was_away_get_the_post_when_it_arrives_there(followed, monkeypatch):
    away = next(alias for alias in ALIASES if alias != shard_of(followed))
    index = "timelines.recent.replicated.index_recent"

    def index_unless_away(alias, entries):
        if alias == away:
            raise OperationalError
        return index_recent(alias, entries)

    post = publish(followed)
    with monkeypatch.context() as patch:
        patch.setattr(index, index_unless_away)
        drain_all()
    assert settled(post) == {i: False for i in ALIASES if i != away}
    age(post, 60_000)
    execute(shard_of(followed), DUE)
    drain_all()
    assert settled(post) == where(post, False)
    arrivals = {alias: fetch_all(alias, ROW, (followed, post.moment))[0][0] for alias in ALIASES}
    assert arrivals[away] == max(arrivals.values())


@REPLICATED
def test_a_time_that_became_visible_late_is_set_again(followed):
    """The disk of the shard is busy while it commits that the post is visible now."""
    post, alias = publish(followed), ALIASES[0]
    drain_all()
    age(post, settle_posts.SETTLE_MS + 1)
    with slow_commits(alias, "timelines_recentpost", 0.3):
        settle_posts.settle_recent(alias, [post])
    now_ms = fetch_all(alias, f"SELECT {settle_posts.NOW_MS}")[0][0]
    settled_ms = fetch_all(alias, ROW, (post.author_id, post.moment))[0][1]
    assert settled_ms > now_ms - settle_posts.SETTLE_MS


EARLIER = "UPDATE timelines_recentpost SET arrival = arrival - 500, settled = NULL"
EARLIER_TAGGED = "UPDATE tags_taggedpost SET arrival = arrival - 500"


@pytest.fixture
def author_and_reader(world):
    author, reader = make_accounts(2)
    follow(reader, author)
    return author, reader


def now_ms():
    return int(time.time() * 1000)


def cursor_above(post):
    """A cursor in the same second, so that the post is below it and late."""
    return PostId(post.second + 1, post.author_id, 0)


def just_moved(monkeypatch, at_ms):
    monkeypatch.setattr(late_rows, "moved_at_ms", lambda _: at_ms)


def test_a_post_that_arrived_earlier_on_the_new_shard_is_not_lost(author_and_reader, monkeypatch):
    """The reader's floor is from the shard before, where the post was not visible yet."""
    author, reader = author_and_reader
    post = publish(author)
    drain_all()
    floor = now_ms()
    execute(shard_of(reader), EARLIER)
    authors, cursor = PolledAuthors(reader), cursor_above(post)
    assert not load_late_posts(authors, cursor, floor).posts
    just_moved(monkeypatch, now_ms())
    assert [late.event for late in load_late_posts(authors, cursor, floor).posts] == [post]


def test_the_same_for_what_is_unread_and_for_tags(author_and_reader, monkeypatch):
    author, reader = author_and_reader
    post = publish(author, "#tea")
    drain_all()
    for alias in settings.SHARD_ALIASES:
        execute(alias, EARLIER)
        execute(alias, EARLIER_TAGGED)
    floor, cursor = now_ms(), cursor_above(post)
    marker = MarkerState(cursor.base36, 1, None, floor)
    assert not find_arrived(reader, marker, now_ms()).late
    assert not load_late_tagged(["tea"], cursor, floor).posts
    just_moved(monkeypatch, now_ms())
    assert [entry.event for entry in find_arrived(reader, marker, now_ms()).late] == [post]
    assert [late.event for late in load_late_tagged(["tea"], cursor, floor).posts] == [post]


def test_only_floors_from_before_the_move_get_the_margin(monkeypatch):
    at, cursor = 1_800_000_000_000, PostId(30, 1, 0)
    just_moved(monkeypatch, at)
    assert floor_after_move(1, cursor, at - 5) == at - 5 - SKEW_MS - MOVE_MARGIN_MS
    assert floor_after_move(1, cursor, at + SKEW_MS + 1) == at + SKEW_MS + 1
    assert floor_after_move(1, cursor, None) == cursor.posted_at_s * 1000 - SKEW_MS - MOVE_MARGIN_MS
    just_moved(monkeypatch, None)
    assert floor_after_move(1, cursor, at - 5) == at - 5
    assert floor_after_move(1, cursor, None) is None


def test_a_push_for_the_shard_before_reaches_a_reader_who_moved(author_and_reader, monkeypatch):
    """A follow-up change names the shards of the readers it has to reach, as they were then."""
    author, reader = author_and_reader
    make_live([reader])
    before = next(alias for alias in settings.SHARD_ALIASES if alias != shard_of(reader))
    post = publish(author)
    fan_out.push([Entry.of_post(post)], [reader], [before])
    assert have([reader]) == each([reader])
    monkeypatch.setattr(fan_out, "moved_at_ms", lambda _: 1)
    fan_out.push([Entry.of_post(post)], [reader], [before])
    assert have([reader]) == each([reader], post)
