"""What was undone is done again: the recipient is notified again after a day, and not before."""

from typing import NamedTuple

import pytest

from infra.sharding.buckets import shard_of
from notifications.actions.write_notifications import DAY_MS, write_notifications
from notifications.models import Notification
from notifications.types import NotificationKind, Occurrence
from tests.callers import Caller
from tests.integration.notifications.listing import V1, body
from tests.integration.notifications.test_web_push import subscribe
from tests.integration.posts.interacting import do
from tests.push_service import Device, push_service
from tests.world import drain_all

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
        write_notifications(shard_of(owner), {occurrence.identity: occurrence}, state.at_ms)
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
