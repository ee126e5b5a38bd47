"""Who is quoted is notified, and who quotes a post that is edited.

Followers who asked for it are notified of each new post of the account that they follow.

What was undone is done again: the recipient is notified again after a day, and not before.
"""

from typing import NamedTuple

import pytest

from infra.sharding.buckets import shard_of
from notifications.actions import notify
from notifications.actions.write_notifications import DAY_MS, write_notifications
from notifications.models import Notification
from notifications.types import NotificationKind, Occurrence
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.notifications.listing import V1, body, replay_everything, rows, told
from tests.integration.notifications.test_web_push import subscribe
from tests.integration.posts.interacting import STATUSES, do, reply
from tests.push_service import Device, push_service
from tests.world import drain_all, make_accounts, publish


def quote(caller: Caller, quoted: str, **more: str) -> str:
    answer = caller.post(STATUSES, {"status": "look", "quoted_status_id": quoted, **more})
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def edit(caller: Caller, post: str, text: str) -> None:
    path = f"{STATUSES}/{post}"
    assert caller.client.put(path, {"status": text}, "application/json").status_code == 200
    drain_all()


def test_the_quoted_author_is_notified_also_of_closed_quotes(people, me, you, original):
    quoting = quote(you, original)
    closed = quote(you, original, visibility="private")
    quote(me, original)
    drain_all()
    your_id = str(people[1])
    assert told(me) == [("quote", your_id, closed), ("quote", your_id, quoting)]
    assert told(me, {"types[]": "quote"}) == told(me)
    you.delete(f"{STATUSES}/{quoting}")
    drain_all()
    assert told(me) == [("quote", your_id, closed)]
    me.post(f"{STATUSES}/{original}/quotes/{closed}/revoke")
    assert told(me) == []
    assert told(you) == []


def test_an_edit_notifies_who_quotes_once(people, me, you, them, original, monkeypatch):
    monkeypatch.setattr(notify, "AT_ONCE", 1)
    quoting = [quote(you, original), quote(them, original, visibility="private")]
    quote(me, original)
    revoked = quote(them, original)
    me.post(f"{STATUSES}/{original}/quotes/{revoked}/revoke")
    drain_all()
    edit(me, original, "new")
    my_id = str(people[0])
    assert told(you) == [("quoted_update", my_id, quoting[0])]
    assert told(them) == [("quoted_update", my_id, quoting[1])]
    edit(me, original, "newer")
    before = [rows(person) for person in people]
    replay_everything()
    assert [rows(person) for person in people] == before
    assert len(told(you)) == len(told(them)) == 1
    assert [kind for kind, *_ in told(me)] == ["quote"] * 3


def test_no_more_when_the_accounts_block_each_other(people, me, you, original):
    quote(you, original)
    drain_all()
    you.post(f"/api/v1/accounts/{people[0]}/block")
    drain_all()
    edit(me, original, "new")
    assert told(me) == [] and told(you) == []


def test_many_quotes(people, me, original):
    others = [Caller(account_id) for account_id in make_accounts(3)]
    for other in others:
        quote(other, original)
    drain_all()
    edit(me, original, "new")
    assert all(kind == "quoted_update" for other in others for kind, *_ in told(other))


ACCOUNTS = "/api/v1/accounts"


def act(caller: Caller, verb: str, other: int, sent: object = None) -> None:
    body(caller.post(f"{ACCOUNTS}/{other}/{verb}", sent))


def post(caller: Caller, visibility: str = "public", **sent: str) -> str:
    """The id of a new post, after the drain."""
    made = body(caller.post(STATUSES, {"status": "news", "visibility": visibility, **sent}))["id"]
    drain_all()
    return str(made)


@pytest.fixture
def subscribed(people, you, them):
    """Bob wants to know of ann's posts, cat only follows."""
    act(you, "follow", people[0], {"notify": True})
    act(them, "follow", people[0])
    drain_all()


def test_only_new_posts_are_told_and_only_to_those_who_asked(subscribed, people, me, you, them):
    a = str(people[0])
    of_cat = publish(people[2]).public
    first = post(me)
    post(me, "direct")
    private = post(me, "private")
    reply(me, of_cat)
    own_answer = reply(me, first)["id"]
    do(me, "reblog", of_cat)
    drain_all()
    expected = [("status", a, own_answer), ("status", a, private), ("status", a, first)]
    assert told(you) == expected
    assert [one[0] for one in told(them)] == ["reblog", "mention"]
    assert told(you, {"types[]": "status"}) == expected
    assert told(you, {"exclude_types[]": "status"}) == []
    replay_everything()
    assert told(you) == expected


def test_the_rules_of_the_list_hold_before_the_drain(subscribed, people, me, you):
    a = str(people[0])
    first, second = post(me), post(me)
    delete_post(PostId.from_public(second))
    assert told(you) == [("status", a, first)]
    for verb, back in (("mute", "unmute"), ("unfollow", "follow")):
        act(you, verb, people[0])
        assert told(you) == []
        act(you, back, people[0])
        assert told(you) == [("status", a, first)]
    do(you, "mute", first)
    assert told(you) == []
    do(you, "unmute", first)
    act(me, "block", people[1])
    assert told(you) == []


def test_muted_threads_and_a_bell_that_was_turned_off_are_silent(subscribed, people, me, you):
    first = post(me)
    do(you, "mute", first)
    reply(me, first)
    drain_all()
    do(you, "unmute", first)
    act(you, "follow", people[0], {"notify": False})
    drain_all()
    post(me)
    assert told(you) == [("status", str(people[0]), first)]


def test_those_who_follow_later_are_not_told_of_posts_before(people, me, you):
    post(me)
    act(you, "follow", people[0], {"notify": True})
    drain_all()
    replay_everything()
    assert told(you) == []


def test_a_post_that_no_account_is_told_of_costs_no_query(people, me, you):
    """The query of the fan-out says so; neither such followers nor the post are read."""
    act(you, "follow", people[0])
    publish(people[0])
    with count_calls() as calls:
        drain_all()
    texts = [statement.sql for statement in calls.statements]
    assert sum("relations_backwardedge" in text for text in texts) == 1
    assert not any("FROM posts_post" in text for text in texts)


def test_many_subscribers_are_told_page_by_page(subscribed, people, me, you, them, monkeypatch):
    monkeypatch.setattr(notify, "AT_ONCE", 1)
    act(them, "follow", people[0], {"notify": True, "quiet": True})
    drain_all()
    expected = [("status", str(people[0]), post(me))]
    assert [told(one, {"types[]": "status"}) for one in (you, them)] == [expected, expected]
    before = rows(people[1])
    replay_everything()
    assert rows(people[1]) == before


def test_favourites_and_reposts_in_a_muted_thread_leave_nothing(people, me, you, original):
    own_answer = reply(me, original)["id"]
    do(me, "mute", original)
    for one in (original, own_answer):
        do(you, "favourite", one)
        do(you, "reblog", one)
    drain_all()
    do(me, "unmute", original)
    assert told(me) == []


def test_an_endorsement_alone_does_not_notify(subscribed, people, me, you, them):
    act(you, "endorse", people[0])
    act(them, "endorse", people[0])
    drain_all()
    post(me)
    assert [one[0] for one in told(you)] == ["status"]
    assert told(them) == []


NOW_MS = 1_800_000_000_000
LATER_MS = NOW_MS + DAY_MS + 1


class State(NamedTuple):
    """Of a favourite; `at_ms`: when it arrives."""

    revision: int
    is_on: bool
    at_ms: int = NOW_MS


ON, OFF = State(1, True), State(2, False)
# What arrives, the number of the row's place, whether it is shown, and how many are pushed.
CASES = {
    "undone and done again": ([ON, OFF, State(3, True)], 1, True),
    "an hour before the day is over": ([ON, OFF, State(3, True, NOW_MS + DAY_MS - 1)], 1, True),
    "a day later": ([ON, OFF, State(3, True, LATER_MS)], 2, True),
    "an old state a day later": ([ON, OFF, State(1, True, LATER_MS)], 1, False),
    "the same state a day later": ([ON, State(1, True, LATER_MS)], 1, True),
    "a newer state a day later": ([ON, State(2, True, LATER_MS)], 1, True),
    "undone a day later": ([ON, State(2, False, LATER_MS)], 1, False),
    "undone again a day later": ([ON, OFF, State(3, False, LATER_MS)], 1, False),
    "undone before it came": ([OFF, ON], 1, True),
}


@pytest.mark.parametrize("name", CASES)
def test_when_a_row_gets_a_new_place(people, name):
    states, places, is_on = CASES[name]
    owner, fan = people[:2]
    seen = set()
    for state in states:
        occurrence = Occurrence(
            owner, fan, NotificationKind.FAVOURITE, 7, owner, NOW_MS, state.revision, state.is_on
        )
        write_notifications(shard_of(owner), [occurrence], state.at_ms)
        seen |= {*Notification.objects.of(owner).values_list("id", flat=True)}
    assert len(seen) == places
    assert [row.is_on for row in Notification.objects.of(owner)] == [is_on]


def test_who_marks_again_on_the_same_day_is_no_news(people, you, original):
    me = Caller(people[0], "read write follow push")
    with push_service() as service:
        subscribe(me, service, Device(), {"alerts": {"favourite": True}})
        listed = []
        for verb in ("favourite", "unfavourite", "favourite"):
            do(you, verb, original)
            drain_all()
            listed.append([one["id"] for one in body(me.get(V1))])
        assert len(service.received) == 1
    assert listed[0] == listed[2] != []
    assert listed[1] == []
