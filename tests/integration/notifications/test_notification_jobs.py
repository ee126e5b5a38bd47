"""Jobs of notifications: what is missing is found and added, what is old goes, and crashes heal."""

import pytest

from infra import clock
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from notifications.cache import end_rows_of
from notifications.ids import first_id
from notifications.jobs.trim_notifications import trim_notifications
from notifications.queries.missing_notifications import find_missing
from notifications.verbs import AuditNotifications, BackfillNotifications, TrimNotifications
from posts.ids import PostId
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.dying import armed
from tests.integration.jobs.lost_rows import at_rest, lose_deletion, lose_post
from tests.integration.jobs.outcomes import Outcome
from tests.integration.notifications.listing import V1, body, replay_everything, rows, told
from tests.integration.posts.interacting import STATUSES, do, reply
from tests.plans import nodes_of, rows_handled, settle
from tests.world import drain_all

__all__ = ["at_rest"]


@pytest.fixture
def happened(people, me, you, them, original):
    """What ann's list has after the drain, in any order."""
    follow(people[1], people[0])
    follow(people[2], people[0])
    do(you, "favourite", original)
    do(you, "reblog", original)
    do(them, "favourite", original)
    reply(them, original)
    drain_all()
    return sorted(told(me), key=str)


def lose(owner_id: int, where: str = "true") -> None:
    for table in ("notification", "inbox") if where == "true" else ("notification",):
        sql = f"DELETE FROM notifications_{table} WHERE owner_id = %s AND {where}"
        execute(shard_of(owner_id), sql, (owner_id,))
    end_rows_of(owner_id)


def test_lost_notifications_are_found_and_added_once(happened, people, me, monkeypatch):
    assert len(happened) == 6
    ids = {one["id"] for one in body(me.get(V1))}
    lose(people[0])
    assert told(me) == []
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    found = Outcome(AuditNotifications())
    assert (found.code, f"account {people[0]}: 6 missing" in found.out) == (1, True)
    assert "6 would change" in Outcome(BackfillNotifications(), "--dry-run").out
    assert "6 changed" in Outcome(BackfillNotifications()).out
    assert sorted(told(me), key=str) == happened
    assert len({one["id"] for one in body(me.get(V1))}) == len(ids) == 6
    before = rows(people[0])
    assert "0 changed" in Outcome(BackfillNotifications()).out
    assert Outcome(AuditNotifications()).code == 0
    replay_everything()
    assert rows(people[0]) == before
    lose(people[0], "kind = 4")
    assert "2 changed" in Outcome(BackfillNotifications()).out
    assert sorted(told(me), key=str) == happened


FILL = """
INSERT INTO notifications_notification
    (owner_id, from_id, kind, post_moment, post_author, id, at_ms, revision, is_on)
SELECT %(owner)s, 10000000 + n, 2, 0, 0, %(id)s + n * 10 + 2, %(at_ms)s, 1, true
FROM generate_series(1, 5000) AS n
"""


def test_the_audit_reads_no_row_that_it_does_not_ask_for(happened, people):
    alias, now_ms = shard_of(people[0]), clock.now_ms()
    at_ms = now_ms - 86_400_000
    execute(alias, FILL, {"owner": people[0], "id": first_id(at_ms), "at_ms": at_ms})
    settle(alias, "notifications_notification")
    with count_calls() as calls:
        assert find_missing(alias, [people[0]], now_ms) == {}
    nodes = [node for one in calls.statements for node in nodes_of(one)]
    (scan,) = [one for one in nodes if one.get("Relation Name") == "notifications_notification"]
    assert rows_handled(scan) == len(happened)


def test_lost_notifications_of_closed_replies_are_found(people, me, you, original):
    follow(people[0], people[1])
    name = you.get(f"/api/v1/accounts/{people[0]}").json()["username"]
    for visibility in ("private", "direct"):
        said = {"status": f"@{name} psst", "in_reply_to_id": original, "visibility": visibility}
        assert you.post(STATUSES, said).status_code == 200
    drain_all()
    before = told(me)
    assert [one[0] for one in before] == ["mention"] * 2
    lose(people[0])
    assert "2 changed" in Outcome(BackfillNotifications()).out
    assert sorted(told(me)) == sorted(before)


def test_old_ones_are_deleted_and_do_not_come_back(happened, people, me, monkeypatch):
    newest = told(me)
    monkeypatch.setattr("notifications.jobs.trim_notifications.NOTIFICATIONS_KEPT", 2)
    assert "4 would change" in Outcome(TrimNotifications(), "--dry-run").out
    assert "4 changed" in Outcome(TrimNotifications()).out
    assert told(me) == newest[:2]
    before = rows(people[0])
    replay_everything()
    assert Outcome(BackfillNotifications()).code == 0
    assert rows(people[0]) == before
    in_a_year = clock.now_ms() + 366 * 86_400_000
    alias = shard_of(people[0])
    assert sum(batch.changed or 0 for batch in trim_notifications(Work([alias]), in_a_year)) >= 2
    assert told(me) == []


def test_a_drain_that_dies_after_a_shard_is_repeated_without_harm(
    people, me, you, them, original, settings
):
    def die() -> None:
        raise OSError("killed")

    for fan in (you, them):
        do(fan, "favourite", original)
        do(fan, "reblog", original)
    with armed("notifications.recorded", die):
        drain_all()
    expected = sorted(told(me), key=str)
    before = rows(people[0])
    for alias in settings.SHARD_ALIASES:
        execute(alias, "UPDATE changes_change SET next_attempt_at = clock_timestamp()")
    drain_all()
    assert (sorted(told(me), key=str), rows(people[0])) == (expected, before)
    assert len(expected) == 4


def test_responses_in_muted_threads_are_not_missing(people, me, you, original, monkeypatch):
    do(me, "mute", original)
    do(you, "favourite", original)
    do(you, "reblog", original)
    reply(you, original)
    drain_all()
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    assert Outcome(AuditNotifications()).code == 0, "while it is muted"
    do(me, "unmute", original)
    assert Outcome(AuditNotifications()).code == 0, "what came before the end of the mute"
    assert "0 changed" in Outcome(BackfillNotifications()).out
    assert told(me) == []


def audit_all(*words: str) -> list[str]:
    """The lines of the held notifications; those that are missing are looked for later."""
    return Outcome(AuditNotifications(), *words).out.splitlines()[:-1]


def repair(line: str) -> None:
    assert audit_all() == [line]
    assert audit_all("--repair") == [f"{line}: repaired"]
    drain_all()
    assert audit_all() == []


@pytest.mark.usefixtures("at_rest")
def test_mention_of_a_lost_post_ends(people, me, you):
    name = body(me.get("/api/v1/accounts/verify_credentials"))["username"]
    post = body(you.post(STATUSES, {"status": f"@{name} hi"}))["id"]
    drain_all()
    lose_post(PostId.from_public(post))
    repair(f"account {people[1]}: mention for {people[0]} was lost")
    assert told(me) == []


@pytest.mark.usefixtures("at_rest")
def test_post_whose_deletion_was_lost_is_deleted_again(people, me, you):
    name = body(me.get("/api/v1/accounts/verify_credentials"))["username"]
    post = body(you.post(STATUSES, {"status": f"@{name} hi"}))["id"]
    drain_all()
    you.delete(f"{STATUSES}/{post}")
    drain_all()
    lose_deletion(PostId.from_public(post))
    line = f"account {people[1]}: post {post} is back: its deletion was lost"
    assert audit_all("--repair", "--restored-wins") == [line]
    repair(line)
    assert you.get(f"{STATUSES}/{post}").status_code == 404


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize(
    ("table", "kind"),
    [("relations_backwardedge", "follow"), ("posts_response", "favourite")],
)
def test_notification_without_a_source_ends(people, me, you, original, table, kind):
    """And the same may happen again."""
    follow(people[1], people[0])
    do(you, "favourite", original)
    drain_all()
    execute(shard_of(people[0]), f"DELETE FROM {table}")
    repair(f"account {people[1]}: {kind} for {people[0]} was lost")
    assert [one[0] for one in told(me)] == [{"follow": "favourite", "favourite": "follow"}[kind]]


@pytest.mark.usefixtures("at_rest")
def test_notification_of_what_has_ended_ends(people, me, you, original):
    do(you, "favourite", original)
    drain_all()
    sql = "UPDATE posts_response SET is_on = false, revision = 2 WHERE author_id = %s"
    execute(shard_of(people[0]), sql, (people[0],))
    repair(f"account {people[1]}: favourite for {people[0]} has ended")
    assert told(me) == []


@pytest.mark.usefixtures("at_rest")
def test_missing_notifications_are_added_by_a_repair(happened, people, me, monkeypatch):
    lose(people[0])
    later = clock.now_ms() + 3_600_000
    monkeypatch.setattr(clock, "now_ms", lambda: later)
    assert audit_all("--repair") == [f"account {people[0]}: 6 missing: repaired"]
    assert sorted(told(me), key=str) == happened
