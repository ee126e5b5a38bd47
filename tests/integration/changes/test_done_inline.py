"""The drain leaves out what the acting request has done of a change.

A write that finds itself done brings the caches up to date, however many changes are pending.
"""

import pytest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.changes.append import finish_interrupted
from infra.changes.compensate import drain
from infra.changes.done_inline import FAMILY
from infra.changes.failpoints import arm, disarm
from infra.sharding.sql import execute
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.dying import Killed, die
from tests.integration.changes.kinds import (
    ALIAS,
    LANE,
    OWNER,
    Journal,
    Noted,
    NotedInline,
    NotedOnce,
    delivered,
    emit,
    let_wait_pass,
    pending,
)
from tests.redis_away import redis_away, wait_for_redis
from tests.world import make_accounts, publish


def note_of(version: int) -> bytes:
    return key(FAMILY, ALIAS, version)


def test_what_the_request_did_is_not_done_again(journal: Journal) -> None:
    versions = emit(NotedOnce(), NotedOnce(), NotedInline())
    drain(ALIAS, LANE)
    assert journal.heard == [versions[:1], versions[1:2], versions[2:], versions[2:]]
    assert (pending(), delivered()) == ([], versions)
    assert not redis().call("EXISTS", *map(note_of, versions)), "its notes are removed"


@pytest.mark.parametrize("place", ["changes.committed", "changes.consumed_inline"])
def test_the_drain_does_all_for_a_request_that_was_killed(journal: Journal, place: str) -> None:
    arm(place, die)
    try:
        with pytest.raises(Killed):
            emit(NotedOnce())
    finally:
        disarm(place)
    journal.clear()
    (version,) = pending()
    drain(ALIAS, LANE)
    assert (journal.versions, delivered()) == ([version], [version])


def test_the_drain_does_what_failed_in_the_request(journal: Journal) -> None:
    def fail(_: object) -> None:
        raise ValueError("a bug")

    journal.act = fail
    versions = emit(NotedOnce())
    journal.clear()
    drain(ALIAS, LANE)
    assert journal.versions == versions


def test_the_drain_does_all_without_a_note(journal: Journal) -> None:
    versions = emit(NotedOnce())
    redis().call("DEL", *map(note_of, versions))
    drain(ALIAS, LANE)
    assert journal.versions == versions * 2


def test_the_drain_does_all_for_a_request_without_redis(journal: Journal) -> None:
    with redis_away():
        versions = emit(NotedOnce())
        journal.clear()
        drain(ALIAS, LANE)
    wait_for_redis()
    assert journal.versions == versions


def test_a_delivery_that_failed_is_repeated_as_a_whole(journal: Journal) -> None:
    """Its notes are gone. Consumers may run twice."""
    once, other = emit(NotedOnce(), Noted())
    journal.clear()
    journal.fail_for(other)
    redis().call("SET", note_of(other), "of another release")
    drain(ALIAS, LANE)
    assert (journal.versions, pending()) == ([], [other])
    journal.clear()
    let_wait_pass()
    drain(ALIAS, LANE)
    assert (journal.versions, delivered()) == ([other], [once, other])


def test_each_note_ends_by_itself(journal: Journal) -> None:
    """However many changes wait for a drainer."""
    first, second = emit(NotedOnce(), NotedOnce())
    redis().call("EXPIRE", note_of(first), 5)
    emit(NotedOnce())
    assert 0 < redis().call("TTL", note_of(first)) <= 5
    assert 5 < redis().call("TTL", note_of(second)) <= 60


def test_another_change_has_no_note(journal: Journal) -> None:
    first = emit(NotedOnce())
    arm("changes.consumed_inline", die)
    try:
        with pytest.raises(Killed):
            emit(NotedOnce(number=2))
    finally:
        disarm("changes.consumed_inline")
    journal.clear()
    drain(ALIAS, LANE)
    assert set(journal.versions).isdisjoint(first)
    assert len(journal.versions) == 1


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
