"""The drain leaves out what the acting request has done of a change."""

import pytest

from infra.caching.client import redis
from infra.caching.keys import key
from infra.changes.done_inline import FAMILY
from infra.changes.drain import drain
from infra.changes.failpoints import arm, disarm
from tests.integration.changes.kinds import (
    ALIAS,
    LANE,
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


def note_of(version: int) -> bytes:
    return key(FAMILY, ALIAS, version)


class Killed(BaseException):
    """Stands for the end of the process."""


def die() -> None:
    raise Killed


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
