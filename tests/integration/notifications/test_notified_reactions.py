"""Notifications of reactions that services declared: their ids, their groups, which of them there
are, and that audits find and add what is missing."""

import re

import pytest

from counters.kinds import DECLARED
from infra import clock
from infra.declarations import IN_PROCESS_S
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.cache import end_rows_of
from notifications.ids import kinds_of
from notifications.models import Notification
from notifications.queries import rows as read
from notifications.types import ALL_KINDS, NotificationKind
from notifications.verbs import AuditNotifications, BackfillNotifications
from posts.actions.declare_reaction import declare_reaction
from posts.queries.reactions import known_reactions
from tests.callers import Caller, assert_refused
from tests.integration.jobs.lost_rows import at_rest
from tests.integration.jobs.outcomes import Outcome
from tests.integration.notifications.listing import V1, V2, body, replay_everything, rows, told
from tests.integration.notifications.test_web_push import (
    device,
    service,
    subscribe,
    subscriber,
)
from tests.integration.posts.interacting import do
from tests.reconciling import assert_audits_find_nothing
from tests.world import drain_all, make_accounts, publish

__all__ = ["at_rest", "device", "service", "subscriber"]
CLAP, COOKED = NotificationKind(DECLARED.start), NotificationKind(DECLARED.start + 1)
WORDS = {"en": "clap", "de": "klatscht"}
# All processes know a declaration by then.
KNOWN_MS = IN_PROCESS_S * 1_000


@pytest.fixture(autouse=True)
def declared(world):
    declare_reaction("clap", WORDS, at_ms=0)
    declare_reaction("cooked_it", {"en": "cooked it"}, at_ms=0)


def react(caller, post, name="clap", act="react"):
    do(caller, f"{act}/{name}", post)


def test_each_reaction_is_told_with_its_name_and_words(people, me, you, original):
    for name in ("clap", "cooked_it", "favourite"):
        react(you, original, name)
        drain_all()
    assert [one[0] for one in told(me)] == ["favourite", "reaction", "reaction"]
    favourite, cooked, clap = body(me.get(V1))
    assert clap["reaction"] == {"name": "clap", "words": WORDS}
    assert cooked["reaction"]["name"] == "cooked_it" and "reaction" not in favourite
    assert clap["status"]["id"] == original
    assert (clap["account"]["id"], you.id) == (str(people[1]), people[1])
    ids = [int(one["id"]) for one in (clap, cooked, favourite)]
    assert ids == sorted(set(ids)) and {i % 10 for i in ids} == {4}
    assert body(me.get(V1, {"since_id": clap["id"]})) == [favourite, cooked]
    for one in (clap, cooked, favourite):
        assert body(me.get(f"{V1}/{one['id']}")) == one
    assert [one[0] for one in told(me, {"types[]": "favourite"})] == ["favourite"]
    assert len(told(me, {"types[]": "reaction"})) == 2
    assert [one[0] for one in told(me, {"exclude_types[]": "reaction"})] == ["favourite"]
    assert [one[0] for one in told(me, {"account_id": people[1]})][1:] == ["reaction"] * 2
    assert body(me.get(f"{V1}/unread_count")) == {"count": 3}
    assert me.post(f"{V1}/{cooked['id']}/dismiss").status_code == 200
    assert body(me.get(V1)) == [favourite, clap]
    assert_refused(me.get(f"{V1}/{int(clap['id']) + 10}"), 404)
    replay_everything()
    assert body(me.get(V1)) == [favourite, clap]


def test_a_reaction_that_is_taken_back_is_told_no_more(people, me, you, original):
    react(you, original)
    react(you, original, "cooked_it")
    drain_all()
    react(you, original, act="unreact")
    drain_all()
    assert [one["reaction"]["name"] for one in body(me.get(V1))] == ["cooked_it"]
    assert_audits_find_nothing()


def test_a_group_has_one_reaction_to_one_post(me, original):
    fans, other = [Caller(one) for one in make_accounts(3)], publish(int(me.id)).public
    for fan in fans:
        react(fan, original)
        drain_all()
    react(fans[0], original, "cooked_it")
    react(fans[0], other)
    drain_all()
    groups = body(me.get(V2))["notification_groups"]
    found = [(g["reaction"]["name"], g["notifications_count"], g["status_id"]) for g in groups]
    assert sorted(found) == sorted(
        [("clap", 3, original), ("cooked_it", 1, original), ("clap", 1, other)]
    )
    assert {g["type"] for g in groups} == {"reaction"}
    [wanted] = [g for g in groups if g["notifications_count"] == 3]
    one = f"{V2}/{wanted['group_key']}"
    assert re.fullmatch(r"reaction32-\w+-\d+", wanted["group_key"])
    assert body(me.get(one))["notification_groups"] == [wanted]
    assert len(body(me.get(f"{one}/accounts"))) == 3
    single = body(me.get(V2, {"grouped_types[]": "follow"}))["notification_groups"]
    assert len(single) == 5 and {g["type"] for g in single} == {"reaction"}
    alone = f"{V2}/{single[0]['group_key']}"
    assert body(me.get(alone))["notification_groups"] == [single[0]]
    assert body(me.get(f"{V2}/unread_count")) == {"count": 3}
    assert me.post(f"{one}/dismiss").status_code == 200
    assert len(body(me.get(V2))["notification_groups"]) == 2
    assert me.post(f"{V2}/{single[-1]['group_key']}/dismiss").status_code == 200
    assert len(told(me)) == 2


def test_a_reaction_that_does_not_notify_tells_nobody_and_no_audit_misses_it(
    people, me, you, original, at_rest, monkeypatch
):
    declare_reaction("clap", WORDS, at_ms=0, notifies=False)
    react(you, original)
    drain_all()
    assert told(me) == []
    declare_reaction("clap", WORDS, clock.now_ms() - KNOWN_MS)
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    assert Outcome(AuditNotifications()).code == 0
    assert "0 changed" in Outcome(BackfillNotifications()).out
    third = Caller(make_accounts(1)[0])
    react(third, original)
    drain_all()
    assert [one[1] for one in told(me)] == [str(third.id)]
    declare_reaction("clap", WORDS, at_ms=0, notifies=False)
    react(third, original, act="unreact")
    drain_all()
    assert Outcome(AuditNotifications()).code == 0


def test_a_new_reaction_notifies_when_all_processes_know_it(me, you, original):
    declare_reaction("known", WORDS, clock.now_ms() - KNOWN_MS)
    declare_reaction("new", WORDS, clock.now_ms() - KNOWN_MS + 5_000)
    for name in ("new", "known"):
        react(you, original, name)
    drain_all()
    assert [one["reaction"]["name"] for one in body(me.get(V1))] == ["known"]
    assert_audits_find_nothing()


def test_lost_ones_are_found_and_added(people, me, you, original, monkeypatch):
    react(you, original)
    react(you, original, "cooked_it")
    drain_all()
    before = sorted(told(me), key=str)
    assert len(before) == 2
    execute(
        shard_of(people[0]),
        "DELETE FROM notifications_notification WHERE owner_id = %s",
        (people[0],),
    )
    end_rows_of(people[0])
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    found = Outcome(AuditNotifications())
    assert (found.code, f"account {people[0]}: 2 missing" in found.out) == (1, True)
    assert "2 changed" in Outcome(BackfillNotifications()).out
    assert sorted(told(me), key=str) == before
    assert Outcome(AuditNotifications()).code == 0
    kinds = {row.kind: row.id for row in Notification.objects.of(people[0])}
    assert kinds.keys() == {CLAP, COOKED}
    assert all(
        kinds_of(i) == (NotificationKind.FAVOURITE, NotificationKind.REACTION)
        for i in kinds.values()
    )


def test_a_crowd_leaves_a_bounded_number_of_each_reaction(people, me, monkeypatch):
    monkeypatch.setattr("notifications.actions.write_notifications.NOTIFICATIONS_AN_HOUR", 2)
    crowd = Caller(people[1])
    for post in [publish(people[0]).public for _ in range(4)]:
        for name in ("clap", "cooked_it"):
            react(crowd, post, name)
    drain_all()
    assert len(told(me)) == 4
    before = rows(people[0])
    monkeypatch.setattr("notifications.actions.write_notifications.NOTIFICATIONS_AN_HOUR", 100)
    replay_everything()
    assert rows(people[0]) == before


def test_a_muted_thread_tells_of_no_reaction(me, you, original):
    assert me.post(f"/api/v1/statuses/{original}/mute").status_code == 200
    react(you, original)
    drain_all()
    assert told(me) == []


def test_a_message_says_which_reaction_it_was(people, subscriber, you, original, service, device):
    subscribe(subscriber, service, device, {"alerts": {"reaction": True}})
    react(you, original)
    do(you, "favourite", original)  # not wanted
    drain_all()
    [message] = map(device.read, service.received)
    assert message["notification_type"] == "reaction"
    assert message["title"].endswith(" reacted to your post: clap")
    replay_everything()
    assert len(service.received) == 1


def test_who_has_no_reactions_reads_what_was_read_before(world):
    """The kinds that a statement asks for are the declared ones; its rows are read by index."""
    execute("default", "DELETE FROM posts_reaction")
    known_reactions.forget()
    assert read.stored_kinds(ALL_KINDS) == [int(kind) for kind in ALL_KINDS if kind < 10]
    declare_reaction("clap", WORDS, at_ms=0)
    assert read.stored_kinds(ALL_KINDS)[10:] == [DECLARED.start]
