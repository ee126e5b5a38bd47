"""Notifications through HTTP: what is told, to whom, in which order, and what removes it."""

from functools import partial

import pytest
from mastodon.return_types import Notification as MastodonNotification
from mastodon.types_base import try_cast

from accounts.models import User
from accounts.types import Restriction
from notifications.queries import pages
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.ids import PostId
from tests.budgets import count_calls
from tests.callers import Caller, assert_refused, next_link
from tests.integration.notifications.listing import (
    V1,
    V2,
    body,
    replay_everything,
    rows,
    told,
)
from tests.integration.posts.interacting import do, reply
from tests.world import NOW, drain_all, publish, restrict

ACCOUNTS = "/api/v1/accounts"
MARKERS = "/api/v1/markers"
JSON = "application/json"


def act(caller: Caller, verb: str, other: int, sent: object = None) -> None:
    body(caller.post(f"{ACCOUNTS}/{other}/{verb}", sent))


@pytest.fixture
def scene(people, me, you, them, original):
    """Ann's notifications, newest first: cat's reply; bob's repost, favourite and follow."""
    for verb in (partial(act, you, "follow", people[0]), partial(do, you, "favourite", original)):
        verb()
        drain_all()
    do(you, "reblog", original)
    drain_all()
    answer = reply(them, original)["id"]
    drain_all()
    _, b, c = map(str, people)
    return [
        ("mention", c, answer),
        ("reblog", b, original),
        ("favourite", b, original),
        ("follow", b, None),
    ]


def test_what_others_do_is_told_once_in_the_order_of_arrival(scene, people, me, you):
    assert told(me) == scene
    assert told(you) == [], "of their own deeds nobody is notified"
    entity = body(me.get(V1))[1]
    assert isinstance(try_cast(MastodonNotification, entity), MastodonNotification)
    assert body(me.get(f"{V1}/{entity['id']}")) == entity
    assert_refused(you.get(f"{V1}/{entity['id']}"), 404)
    assert_refused(me.get(f"{V1}/{10**40}"), 404)


def test_own_deeds_and_quiet_follows_are_not_told(people, me, you, original):
    do(me, "favourite", original)
    do(me, "reblog", original)
    reply(me, original)
    act(you, "follow", people[0], {"quiet": True})
    drain_all()
    assert told(me) == []
    act(you, "follow", people[0], {"quiet": False})
    drain_all()
    assert told(me) == [("follow", str(people[1]), None)]
    act(you, "follow", people[0], {"quiet": True})
    drain_all()
    assert told(me) == []


UNDOING = {
    "unfollow": lambda s: act(s["bob"], "unfollow", s["people"][0]),
    "unfavourite": lambda s: do(s["bob"], "unfavourite", s["original"]),
    "unreblog": lambda s: do(s["bob"], "unreblog", s["original"]),
    "delete the reply": lambda s: delete_post(PostId.from_public(s["scene"][0][2])),
    "hide the reply": lambda s: hide_post(PostId.from_public(s["scene"][0][2]), NOW, 1),
    "delete the original": lambda s: delete_post(PostId.from_public(s["original"])),
    "block": lambda s: act(s["ann"], "block", s["people"][1]),
    "be blocked": lambda s: act(s["bob"], "block", s["people"][0]),
    "mute": lambda s: act(s["ann"], "mute", s["people"][1]),
    "unmute": lambda s: act(s["ann"], "unmute", s["people"][1]),
    "mute posts only": lambda s: act(s["ann"], "mute", s["people"][1], {"notifications": False}),
    "suspend": lambda s: restrict(s["people"][1], Restriction.SUSPENDED),
    "restore": lambda s: restrict(s["people"][1], Restriction.NONE),
    "limit": lambda s: restrict(s["people"][1], Restriction.LIMITED),
}
# Each sequence begins with four notifications: which of them are left after each step.
SEQUENCES = [
    [("unfollow", (0, 1, 2)), ("unfavourite", (0, 1)), ("delete the reply", (1,))],
    [
        ("mute posts only", (0, 1, 2, 3)), ("mute", (0,)), ("unmute", (0, 1, 2, 3)),
        ("unreblog", (0, 2, 3)), ("hide the reply", (2, 3)), ("delete the original", (3,)),
    ],
    [("suspend", (0,)), ("restore", (0, 1, 2, 3)), ("limit", (0,)), ("block", (0,))],
    [("be blocked", (0,))],
]  # fmt: skip


DELIVERED = {"suspend", "restore", "limit", "unfollow", "unfavourite", "unreblog"}


@pytest.mark.parametrize("steps", SEQUENCES, ids=lambda steps: steps[0][0])
def test_what_is_undone_is_gone_at_the_next_read(steps, scene, people, me, you, original):
    at_hand = {"people": people, "ann": me, "bob": you, "original": original, "scene": scene}
    for name, left in steps:
        UNDOING[name](at_hand)
        if name in DELIVERED:
            drain_all()  # which brings it to the account's shard
        assert told(me) == [scene[place] for place in left], name
    drain_all()
    assert told(me) == [scene[place] for place in steps[-1][1]], "after the drain"


def test_mentions_are_told_once_to_each_who_is_mentioned(people, me, you, them, original):
    names = " ".join(f"@{one.username}" for one in User.objects.filter(id__in=people))
    sent = {"status": f"look {names}", "in_reply_to_id": original}
    post = body(them.post("/api/v1/statuses", sent))["id"]
    drain_all()
    expected = [("mention", str(people[2]), post)]
    assert (told(me), told(you), told(them)) == (expected, expected, [])
    later = body(them.post("/api/v1/statuses", {"status": "hm"}))["id"]
    edit = them.client.put(f"/api/v1/statuses/{later}", {"status": sent["status"]}, JSON)
    assert body(edit)["mentions"]
    drain_all()
    assert told(you) == [("mention", str(people[2]), later), *expected]
    delete_post(PostId.from_public(later))
    delete_post(PostId.from_public(post))
    assert told(you) == []
    drain_all()
    assert [row[-2] for row in rows(people[1])] == [False, False], "the rows are ended"


def test_replays_and_duplicates_change_nothing(scene, people, me):
    before = rows(people[0])
    replay_everything()
    assert rows(people[0]) == before
    assert told(me) == scene


def test_lists_are_paged_selected_and_cost_a_fixed_number_of_queries(scene, people, me):
    everything = [one["id"] for one in body(me.get(V1))]
    pages, path = [], f"{V1}?limit=3"
    while path:
        answer = me.get(path)
        pages.append([one["id"] for one in body(answer)])
        path = next_link(answer)
    assert pages == [everything[:3], everything[3:]]
    newer = {"min_id": everything[3], "limit": 2}
    assert [one["id"] for one in body(me.get(V1, newer))] == everything[1:3]
    since = {"since_id": everything[2]}
    assert [one["id"] for one in body(me.get(V1, since))] == everything[:2]
    assert told(me, {"types[]": ["follow", "mention"]}) == [scene[0], scene[3]]
    assert told(me, {"exclude_types[]": "follow"}) == scene[:3]
    assert told(me, {"types[]": ["poll"]}) == []
    assert told(me, {"account_id": people[2]}) == scene[:1]
    assert_refused(me.get(V1, {"account_id": "x"}), 422)
    me.get(V1)
    with count_calls() as calls:
        me.get(V1)
    assert sum(calls.sql.values()) <= 2
    assert calls.round_trips <= 5


def test_unread_ones_are_counted_from_the_marker(scene, people, me):
    ids = [one["id"] for one in body(me.get(V1))]
    count = f"{V1}/unread_count"
    assert body(me.get(count)) == {"count": 4}
    assert body(me.get(count, {"limit": 2})) == {"count": 2}
    body(me.post(MARKERS, {"notifications": {"last_read_id": ids[2]}}))
    assert body(me.get(count)) == {"count": 2}
    assert body(me.get(count, {"types[]": "reblog"})) == {"count": 1}
    act(me, "block", people[2])
    assert body(me.get(count)) == {"count": 1}
    body(me.post(MARKERS, {"notifications": {"last_read_id": "9" * 20}}))
    assert body(me.get(count)) == {"count": 0}


@pytest.mark.parametrize(("path", "most"), [(V1, 2 * 10), (V2, 2 * 20)])
def test_a_count_looks_at_few_rows_if_none_of_very_many_may_be_seen(
    people, me, monkeypatch, path, most
):
    monkeypatch.setattr(pages, "NEXT_BATCH", 1)
    crowd = Caller(people[1])
    for _ in range(50):
        do(crowd, "favourite", publish(people[0]).public)
    drain_all()
    act(me, "block", people[1])
    drain_all()
    viewed = []
    real = pages.view_notifications
    monkeypatch.setattr(
        pages, "view_notifications", lambda *args: viewed.append(len(args[1].rows)) or real(*args)
    )
    assert body(me.get(f"{path}/unread_count", {"limit": 10})) == {"count": 0}
    assert sum(viewed) == most


def test_dismissed_and_cleared_ones_do_not_come_back(scene, people, me, you, original):
    first = body(me.get(V1))[1]
    body(me.post(f"{V1}/{first['id']}/dismiss"))
    assert told(me) == [scene[0], *scene[2:]]
    assert_refused(me.post(f"{V1}/{first['id']}/dismiss"), 404)
    assert_refused(you.post(f"{V1}/{first['id']}/dismiss"), 404)
    body(me.post(f"{V1}/clear"))
    assert told(me) == []
    do(you, "unreblog", original)
    do(you, "reblog", original)
    drain_all()
    assert told(me) == [], "an act that is repeated at once is not told again"
    second = publish(people[0]).public
    do(you, "favourite", second)
    drain_all()
    assert told(me) == [("favourite", str(people[1]), second)]


def test_a_crowd_leaves_a_bounded_number_of_rows(people, me, monkeypatch):
    monkeypatch.setattr("notifications.actions.write_notifications.NOTIFICATIONS_AN_HOUR", 3)
    posts = [publish(people[0]).public for _ in range(5)]
    crowd = Caller(people[1])
    for post in posts:
        do(crowd, "favourite", post)
    answer = reply(crowd, posts[0])["id"]
    drain_all()
    assert [one[0] for one in told(me)].count("favourite") == 3
    assert ("mention", str(people[1]), answer) in told(me)
    before = rows(people[0])
    monkeypatch.setattr("notifications.actions.write_notifications.NOTIFICATIONS_AN_HOUR", 100)
    replay_everything()
    assert rows(people[0]) == before, "what was left out stays out"
