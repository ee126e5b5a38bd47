"""Rows of notifications in Redis: what a warm page costs, and what ends them."""

import pytest

from infra.caching.client import redis
from infra.caching.keys import key
from notifications import cache
from notifications.actions.policy import change_policy
from notifications.queries import rows
from notifications.types import Measure
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.dying import dying_at
from tests.people import cast
from tests.world import drain_all, publish

LISTS = ("/api/v1/notifications", "/api/v2/notifications")


people = cast(4)


def ids_of(me: Caller) -> list[str]:
    return [one["id"] for one in me.get(LISTS[0]).json()]


def test_a_warm_page_asks_no_shard(people: list[int], me: Caller) -> None:
    post = publish(people[0])
    for other in people[1:]:
        follow(other, people[0])
        mark_post(other, post, Kind.FAVOURITE, True)
    drain_all()
    for path in LISTS:
        first = me.get(path).json()
        with count_calls() as calls:
            assert me.get(path).json() == first
        assert calls.sql == {}
    assert len(ids_of(me)) == 6


def test_a_warm_count_of_unread_ones_asks_no_shard_and_follows_the_marker(
    people: list[int], me: Caller
) -> None:
    def count() -> list[int]:
        return [me.get(f"{path}/unread_count").json()["count"] for path in LISTS]

    for other in people[1:]:
        follow(other, people[0])
    drain_all()
    newest, middle, oldest = ids_of(me)
    assert count() == [3, 1], "follows are one group"
    for read_up_to, counts in [(middle, [1, 1]), (newest, [0, 0]), (oldest, [2, 1])]:
        me.post("/api/v1/markers", {"notifications": {"last_read_id": read_up_to}})
        assert count() == counts
        with count_calls() as calls:
            assert count() == counts
        assert calls.sql == {}
    me.post(f"/api/v1/notifications/{newest}/dismiss")
    assert count() == [1, 1]


def test_each_write_is_in_the_next_page(people: list[int], me: Caller) -> None:
    post = publish(people[0])
    assert ids_of(me) == []
    follow(people[1], people[0])
    mark_post(people[2], post, Kind.FAVOURITE, True)
    drain_all()
    favourite, _ = sorted(ids_of(me), key=lambda i: int(i) % 10, reverse=True)
    mark_post(people[2], post, Kind.FAVOURITE, False)
    drain_all()
    assert favourite not in ids_of(me)
    (left,) = ids_of(me)
    me.post(f"/api/v1/notifications/{left}/dismiss")
    assert ids_of(me) == []
    follow(people[3], people[0])
    drain_all()
    assert len(ids_of(me)) == 1
    change_policy(people[0], {"for_not_following": Measure.DROP})
    assert ids_of(me) == []
    change_policy(people[0], {"for_not_following": Measure.ACCEPT})
    assert len(ids_of(me)) == 1
    me.post("/api/v1/notifications/clear")
    assert ids_of(me) == []


def test_what_a_slow_reader_stores_is_not_read_after_a_write(
    people: list[int], me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def read_slowly(*asked: object) -> rows.ReadRows:
        found = rows.read_rows(*asked)  # type: ignore[arg-type]
        if not done:
            done.append((follow(people[1], people[0]) and 1) or 1)
            drain_all()
        return found

    monkeypatch.setattr(cache, "read_rows", read_slowly)
    assert ids_of(me) == []
    assert len(ids_of(me)) == 1


def test_dying_before_the_rows_are_ended_leaves_it_to_the_drain(
    people: list[int], me: Caller
) -> None:
    assert ids_of(me) == []
    follow(people[1], people[0])
    with dying_at("notifications.recorded"):
        drain_all()
    assert ids_of(me) == []
    drain_all()
    assert len(ids_of(me)) == 1


def test_unreadable_rows_are_read_again(people: list[int], me: Caller) -> None:
    follow(people[1], people[0])
    drain_all()
    first = ids_of(me)
    validator = redis().call("GET", f"{cache.FAMILY}:{{{people[0]}}}")
    for name in redis().call("KEYS", f"{cache.FAMILY}:*:*"):
        redis().call("SET", name, validator + b"x")
    assert ids_of(me) == first


def test_a_new_favourite_ends_the_rows_when_its_notification_is_written(
    people: list[int], me: Caller
) -> None:
    """Not in the request as well: that would be a round trip for each favourite."""
    post, validator = publish(people[0]), key(cache.FAMILY, people[0])
    drain_all()
    assert ids_of(me) == []
    mark_post(people[1], post, Kind.FAVOURITE, True)
    assert redis().call("EXISTS", validator) == 1
    drain_all()
    assert redis().call("EXISTS", validator) == 0
    assert len(ids_of(me)) == 1
    mark_post(people[1], post, Kind.FAVOURITE, False)
    mark_post(people[1], post, Kind.FAVOURITE, True)
    drain_all()
    assert len(ids_of(me)) == 1
