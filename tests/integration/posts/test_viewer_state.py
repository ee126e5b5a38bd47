"""Viewer state: the newest interactions from one value, older ones by key.

Changes that functions of the database write: the row says what the inline consumers got.
"""

import json

import pytest

from infra.caching.questions import answer
from infra.changes.models import Change
from infra.changes.registry import read_payload
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost, undo_repost
from posts.cache import viewer_state
from posts.cache.viewer_state import ask_viewer_state, load_flags, refresh_viewer_states
from posts.cache.viewer_state_payload import ViewerState, pack, unpack
from posts.fragments.present import BOOKMARKED, FAVOURITED, REPOSTED
from posts.ids import EPOCH, PostId
from posts.queries.rows import read_posts
from posts.types import Draft, Kind
from relations.actions.follow import follow, unfollow
from tests.budgets import count_calls
from tests.cached_values import begin
from tests.people import cast
from tests.world import make_accounts, publish

people = cast(2)


def posts_of(author_id: int, count: int) -> list[PostId]:
    return [publish(author_id, clock_s=lambda n=n: EPOCH + 100 + n) for n in range(count)]


def read(person: int) -> ViewerState:
    return answer(ask_viewer_state(person))


def test_the_layout_is_the_one_written_down():
    state = ViewerState(7, {PostId(8, 3, 1): FAVOURITED | REPOSTED})
    packed = pack(state)
    assert packed == bytes.fromhex("0000000700000000000000080000000300010c")
    assert unpack(packed) == state


def test_each_interaction_is_there_at_the_next_read_without_a_query(people):
    me, author = people
    (post,) = posts_of(author, 1)
    assert read(me) == ViewerState(0, {})
    for act, flags in (
        (lambda: mark_post(me, post, Kind.FAVOURITE, True), FAVOURITED),
        (lambda: repost(me, post), FAVOURITED | REPOSTED),
        (lambda: mark_post(me, post, Kind.BOOKMARK, True), FAVOURITED | REPOSTED | BOOKMARKED),
        (lambda: mark_post(me, post, Kind.FAVOURITE, False), REPOSTED | BOOKMARKED),
        (lambda: undo_repost(me, post), BOOKMARKED),
    ):
        act()
        with count_calls() as calls:
            assert read(me) == ViewerState(0, {post: flags})
        assert calls.statements == []


@pytest.mark.parametrize("kinds", [(Kind.FAVOURITE,), (Kind.BOOKMARK, Kind.FAVOURITE), ()])
def test_interactions_below_the_floor_are_read_by_key(people, monkeypatch, kinds):
    """The cut is in the marks, in the reposts, or in both at different posts."""
    monkeypatch.setattr(viewer_state, "MOST_INTERACTIONS", 4)
    me, author = people
    posts = posts_of(author, 12)
    for n, post in enumerate(posts):
        for kind in kinds:
            mark_post(me, post, kind, True)
        if n < 6 or not kinds:
            repost(me, post)
    refresh_viewer_states([me])
    state = read(me)
    assert 0 < state.floor <= posts[-1].second
    expected = {
        post: sum(1 << kind for kind in kinds) + (REPOSTED if n < 6 or not kinds else 0)
        for n, post in enumerate(posts)
    }
    assert dict(load_flags(me, state, posts, dict.fromkeys(posts, b""))) == expected
    newest = [post for post in posts if post.second >= state.floor]
    with count_calls() as calls:
        assert load_flags(me, state, newest, dict.fromkeys(newest, b"")) == {
            post: expected[post] for post in newest
        }
    assert calls.statements == []


def test_a_slow_reader_does_not_bring_the_past_back(people):
    """It reads before the interaction and writes its result afterwards."""
    me, author = people
    (post,) = posts_of(author, 1)
    tokens, late = begin(viewer_state.viewer_states, me), viewer_state._load([me])
    mark_post(me, post, Kind.FAVOURITE, True)
    viewer_state.viewer_states.write_many(late, tokens)
    assert read(me).flags == {post: FAVOURITED}


GOT = "infra.changes.append.inline_consumers_of"


@pytest.fixture
def got(world, monkeypatch):
    """What inline consumers get, in order."""
    deliveries = []
    monkeypatch.setattr(GOT, lambda kinds: [lambda alias, some: deliveries.extend(some)])
    monkeypatch.setattr("infra.changes.append.is_inline_consumer_of", lambda *_: True)
    return deliveries


def changes_of(account_id: int) -> list[tuple]:
    rows = Change.objects.on(shard_of(account_id)).filter(owner_id=account_id).order_by("id")
    return [(row.id, row.created_at, row.kind, row.payload) for row in rows]


def test_row_and_inline_delivery_agree(got):
    author, reader = make_accounts(2)
    post = create_post(author, Draft("hello"))
    reply = create_post(author, Draft("again", in_reply_to=post), "a key")
    assert create_post(author, Draft("again"), "a key") == reply
    row = read_posts(shard_of(author), [post])[0]
    assert edit_post(row, Draft("#hello again"))
    assert not edit_post(row, Draft("#hello again"))
    repost(author, post)
    undo_repost(author, post)
    mark_post(author, post, Kind.FAVOURITE, True)
    delete_post(reply)
    follow(author, reader)
    unfollow(author, reader)
    found = {d.version: d for d in got}
    rows = changes_of(author)
    assert len(rows) == 9
    for id_, created_at, kind, payload in rows:
        delivery = found[id_]
        named = {name: value for name, value in payload.items() if name != "@requests"}
        assert read_payload(kind, json.dumps(named)) == delivery.payload
        assert created_at == delivery.created_at
