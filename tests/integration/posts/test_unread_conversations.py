"""How many conversations are unread: what it costs, what ends it in Redis, and who counts."""

import pytest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.conversations import cache
from posts.conversations.actions.edit_conversation import delete_conversation
from posts.ids import PostId
from posts.types import Draft, Visibility
from relations.actions.block import block
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, token_of
from tests.disconnected_process import disconnected_reader
from tests.dying import dying_at
from tests.people import cast
from tests.plans import assert_index_only, settle
from tests.world import drain_all

COUNT = "/api/v2/notifications/unread_count"
LIST = "/api/v1/conversations"


people = cast(4, names=("ann", "ben"))


def write(author: int, thread: PostId | None = None) -> PostId:
    draft = Draft("@ann psst", visibility=Visibility.DIRECT, in_reply_to=thread, thread=thread)
    return create_post(author, draft)


def count(caller: Caller, **query: object) -> int:
    found = caller.get(COUNT, {"conversations": "true", **query}).json()["conversations"]
    return int(found)


def test_only_who_asks_gets_the_number_and_needs_the_right(people: list[int], me: Caller) -> None:
    assert "conversations" not in me.get(COUNT).json()
    narrow = Caller(people[0], scope="read:notifications")
    assert narrow.get(COUNT).status_code == 200
    assert narrow.get(COUNT, {"conversations": "true"}).status_code == 403
    assert me.get(COUNT, {"conversations": "perhaps"}).status_code == 422


def test_a_warm_count_asks_no_shard(people: list[int], me: Caller) -> None:
    for unread_count in (0, 2):
        for author in people[1 : 1 + unread_count]:
            write(author)
        drain_all()
        assert count(me) == unread_count
        with count_calls() as calls:
            assert count(me) == unread_count
        assert calls.sql == {}


def test_who_has_none_pays_no_more_round_trips(people: list[int], me: Caller) -> None:
    trips = []
    for query in ({}, {"conversations": "true"}):
        me.get(COUNT, query)
        with count_calls() as calls:
            me.get(COUNT, query)
        trips.append(calls.round_trips)
    assert trips[0] == trips[1]


def test_another_process_counts_right_after_reading(people: list[int], me: Caller) -> None:
    first = write(people[1])
    drain_all()
    token, path = token_of(people[0]), f"{COUNT}?conversations=true"
    with disconnected_reader() as ask:
        assert '"conversations":1' in ask("ask", token, path)
        for word, unread in (("read", 0), ("unread", 1)):
            me.post(f"{LIST}/{first.public}/{word}")
            assert f'"conversations":{unread}' in ask("ask", token, path)


def test_each_write_is_in_the_next_count(people: list[int], me: Caller) -> None:
    assert count(me) == 0
    first = write(people[1])
    write(people[2])
    drain_all()
    assert count(me) == 2
    me.post(f"{LIST}/{first.public}/read")
    assert count(me) == 1
    assert me.post(f"{LIST}/{first.public}/unread").json()["unread"] is True
    assert count(me) == 2
    assert Caller(people[3]).post(f"{LIST}/{first.public}/unread").status_code == 404
    me.post(f"{LIST}/{first.public}/read")
    again = write(people[1], first)
    drain_all()
    assert count(me) == 2
    # My own answer reads it.
    write(people[0], first)
    assert count(me) == 1
    later = write(people[1], first)
    drain_all()
    assert count(me) == 2
    for post_id in (later, again):
        delete_post(post_id)
    drain_all()
    assert count(me) == 2
    delete_conversation(people[0], first.author_id, first.moment)
    assert count(me) == 1


def test_a_later_post_than_the_seen_one_stays_unread(people: list[int], me: Caller) -> None:
    first = write(people[1])
    later = write(people[1], first)
    drain_all()
    read = f"{LIST}/{first.public}/read"
    seen = PostId(later.second, later.author_id - 1, later.sequence)
    for up_to in (seen, PostId(later.second - 1, *later[1:])):
        assert me.post(read, {"up_to": up_to.public}).json()["unread"] is True
    assert me.post(read, {"up_to": "soon"}).status_code == 422
    assert count(me) == 1
    assert me.post(read, {"up_to": later.public}).json()["unread"] is False
    assert count(me) == 0
    gone = PostId(1, people[2], 0).public
    assert me.post(f"{LIST}/{gone}/read", {"up_to": gone}).status_code == 404


def test_what_one_may_not_see_and_who_is_muted_do_not_count(people: list[int], me: Caller) -> None:
    for author in people[1:]:
        write(author)
    drain_all()
    assert count(me) == 3
    block(people[0], people[1])
    assert count(me) == 2
    mute(people[0], people[2])
    assert count(me) == 1
    assert count(me, limit=1) == 1


def test_what_a_slow_reader_stores_is_not_read_after_a_write(
    people: list[int], me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[PostId] = []
    read = cache.read_unread

    def read_slowly(*asked: int) -> list[PostId]:
        found = read(*asked)
        if not done:
            done.append(write(people[1]))
            drain_all()
        return found

    monkeypatch.setattr(cache, "read_unread", read_slowly)
    assert count(me) == 0
    assert count(me) == 1


def test_dying_before_the_list_is_ended_leaves_it_to_the_drain(
    people: list[int], me: Caller
) -> None:
    assert count(me) == 0
    write(people[1])
    with dying_at("conversations.written"):
        drain_all()
    assert count(me) == 0
    drain_all()
    assert count(me) == 1


def test_an_unreadable_list_is_read_again(people: list[int], me: Caller) -> None:
    write(people[1])
    drain_all()
    assert count(me) == 1
    validator = redis().call("GET", key(cache.FAMILY, people[0]))
    redis().call("SET", key(cache.FAMILY, people[0], "list"), validator + b"x")
    assert count(me) == 1


def test_ten_thousand_unread_ones_are_one_short_read_of_an_index(
    people: list[int], me: Caller
) -> None:
    my_id, alias = people[0], shard_of(people[0])
    rows = """
        INSERT INTO conversations_conversation
        SELECT %s, 8, n, 1000000 + n, 8, 0, 0, n %% 2 = 0 FROM generate_series(1, 20000) n
    """
    execute(alias, rows, (my_id,))
    settle(alias, "conversations_conversation")
    with count_calls() as calls:
        assert count(me, limit=20) == 0  # their posts are gone
    (statement,) = [one for one in calls.statements if "conversations_conversation" in one.sql]
    assert_index_only(statement, "conversation_unread", cache.MOST)
    assert len(cache.read_unread(my_id, cache.MOST)) == cache.MOST
