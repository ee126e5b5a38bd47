"""Readers whose rows moved to another shard: no late post is lost, and no fan-out skips them."""

import time

import pytest
from django.conf import settings

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.ids import PostId
from relations.actions.follow import follow
from tests.integration.timelines.many_followers import each, have, make_live
from tests.world import drain_all, make_accounts, publish
from timelines.actions import fan_out
from timelines.catch_up.unread import find_arrived
from timelines.markers.types import MarkerState
from timelines.polling import moved
from timelines.polling.late_posts import PolledAuthors, load_late_posts
from timelines.polling.moved import MOVE_MARGIN_MS, SKEW_MS, floor_after_move
from timelines.tags.queries.late_posts import load_late_tagged
from timelines.types import Entry

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
    monkeypatch.setattr(moved, "moved_at_ms", lambda _: at_ms)


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
