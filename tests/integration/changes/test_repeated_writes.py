"""A write that finds itself done brings the caches up to date, however many changes are pending."""

import pytest

from infra.changes.append import finish_interrupted
from infra.sharding.sql import execute
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.integration.changes.kinds import ALIAS, LANE, OWNER, Journal, NotedInline, emit
from tests.world import make_accounts, publish

FOLLOWS = 30
CHANGE_OF_ANOTHER_RELEASE = """
INSERT INTO changes_change (lane, kind, owner_id, payload) VALUES (%s, 'tests.of_later', %s, '{}')
"""
# Of one repeated follow, with changes of four shards.
MOST_QUERIES, MOST_ROUND_TRIPS = 40, 10


def test_it_costs_little_however_many_changes_are_pending(world: None) -> None:
    """Without a drain they pile up. One by one they would keep a thread busy for seconds."""
    me, *others = make_accounts(1 + FOLLOWS)
    for other in others:
        follow(me, other)
        publish(me)
    with count_calls() as calls:
        follow(me, others[0])
    assert calls.sql.total() <= MOST_QUERIES
    # The steps of the following list are applied to the timeline one after the other.
    assert calls.round_trips <= MOST_ROUND_TRIPS + FOLLOWS


def test_all_pending_changes_of_the_owner_are_one_batch(journal: Journal) -> None:
    versions = emit(NotedInline(), NotedInline(), NotedInline())
    journal.clear()
    finish_interrupted(ALIAS, OWNER)
    assert journal.heard == [versions]


def test_a_change_of_another_release_does_not_fail_the_write(journal: Journal) -> None:
    (version,) = emit(NotedInline())
    execute(ALIAS, CHANGE_OF_ANOTHER_RELEASE, (LANE, OWNER))
    journal.clear()
    finish_interrupted(ALIAS, OWNER)
    assert journal.heard == [[version]]


def test_a_consumer_that_fails_does_not_stop_the_others(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    emit(NotedInline(), NotedInline())
    woken: list[str] = []
    monkeypatch.setattr(
        "infra.changes.append.wake_commands", lambda alias, lanes: woken.append(alias) or []
    )
    journal.act = lambda deliveries: 1 // 0
    finish_interrupted(ALIAS, OWNER)
    assert woken == [ALIAS]
