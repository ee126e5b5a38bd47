"""Rows of notifications in Redis: what a warm page costs, and what ends them.

Plans of the list of notifications, with many favourites and few mentions.
"""

import pytest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications import cache
from notifications.actions.policy import change_policy
from notifications.queries import rows
from notifications.queries.rows import IdRange, read_rows, stored_kinds
from notifications.types import Measure, NotificationKind, Selection
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller
from tests.dying import dying_at
from tests.people import cast
from tests.plans import nodes_of, rows_handled, settle
from tests.world import drain_all, make_account, publish

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


INBOX = "INSERT INTO notifications_inbox (owner_id, newest_tick) VALUES (%s, 1000000)"
# The mentions are the oldest. Others have notifications, too.
FILL = """
INSERT INTO notifications_notification
    (owner_id, from_id, kind, post_moment, post_author, id, at_ms, revision, is_on)
SELECT %(owner)s, n, CASE WHEN n <= 100 THEN 1 ELSE 4 END, n, %(owner)s,
    n * 10 + CASE WHEN n <= 100 THEN 1 ELSE 4 END, n, 1, n %% 50 <> 0
FROM generate_series(1, 20000) AS n
UNION ALL
SELECT 1000000 + n %% 100, n, 4, n, 1, n * 10 + 4, n, 1, true FROM generate_series(1, 20000) AS n
"""
A_PAGE = 41


@pytest.fixture
def owner(world):
    owner_id = make_account()
    execute(shard_of(owner_id), INBOX, (owner_id,))
    execute(shard_of(owner_id), FILL, {"owner": owner_id})
    settle(shard_of(owner_id), "notifications_notification", "notifications_inbox")
    return owner_id


MENTIONS = Selection([NotificationKind.MENTION])


def test_a_page_reads_no_more_entries_than_it_shows(owner):
    stored_kinds(Selection().kinds)  # what a process reads once
    for ids in [
        IdRange(),
        IdRange(below=150_000),
        IdRange(10, newest_first=False),
    ]:
        for selection in [Selection(), MENTIONS]:
            with count_calls() as calls:
                read = read_rows(owner, selection, ids, A_PAGE)
            [statement] = calls.statements
            scans = [
                node
                for node in nodes_of(statement)
                if node.get("Relation Name") == "notifications_notification"
            ]
            assert {(one["Node Type"], one["Index Name"]) for one in scans} == {
                ("Index Only Scan", "notification_list")
            }, (selection, ids)
            assert len(read.rows) == A_PAGE, (selection, ids)
            # A plan rounds the rows of each kind up.
            assert sum(map(rows_handled, scans)) <= A_PAGE * 2 + len(selection.kinds), (
                selection,
                ids,
            )
