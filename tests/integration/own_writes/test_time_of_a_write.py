"""The time of an account's write is in Redis after all invalidations of the write.

So a process that has seen the time, and then proved that it has all messages, may use its memory.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest

import posts.consumers
import relations.consumers
from infra.caching.client import SingleClient
from infra.caching.listener import LISTENER
from infra.caching.questions import answer
from infra.caching.viewer_validators import ValidatorsQuestion, ViewerField, viewer_key
from infra.sharding.attempts import GaveWay
from posts.actions.mark_post import mark_post
from posts.types import Kind
from relations.actions.follow import follow, unfollow
from tests.budgets import count_calls
from tests.integration.own_writes.acting import make_pair
from tests.world import publish


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """All commands, in their order."""
    commands: list[tuple[Any, ...]] = []
    run = SingleClient.run

    def record(client: SingleClient, some: Any) -> list[Any]:
        commands.extend(some)
        return run(client, some)

    monkeypatch.setattr(SingleClient, "run", record)
    return commands


ACTS: dict[str, Callable[[int, int], object]] = {
    "follow": follow,
    "unfollow": unfollow,
    "publish": lambda me, _: publish(me),
}


@pytest.mark.parametrize("act", ACTS)
def test_the_last_command_of_a_write_says_when_it_was(
    world: None, sent: list[tuple[Any, ...]], act: str
) -> None:
    me, other = (int(one.id) for one in make_pair())
    if act == "unfollow":
        follow(me, other)
    sent.clear()
    ACTS[act](me, other)
    published = [n for n, command in enumerate(sent) if command[0] == "PUBLISH"]
    times = [n for n, command in enumerate(sent) if _is_time_of(me, command)]
    assert published, "counts changed"
    assert times[-1] > published[-1]
    values = [sent[n][3] for n in times]
    assert len({*values}) == len(values), "each has its own"


def test_it_is_said_once_if_nothing_more_was_invalidated(
    world: None, sent: list[tuple[Any, ...]]
) -> None:
    """A post without tags that answers none: there is nothing to do early on other shards."""
    me, _ = (int(one.id) for one in make_pair())
    sent.clear()
    with count_calls() as calls:
        publish(me)
    assert len([command for command in sent if _is_time_of(me, command)]) == 1
    assert calls.round_trips == 2, "the caches, and then the author's timeline"


def test_the_drain_begins_when_the_write_has_done_its_part(
    world: None, sent: list[tuple[Any, ...]]
) -> None:
    """Else both want the same rows at the same time."""
    me, other = (int(one.id) for one in make_pair())
    post = publish(other)
    acts: list[Callable[[], object]] = [
        lambda: mark_post(me, post, Kind.FAVOURITE, True),
        lambda: follow(me, other),
    ]
    for act in acts:
        sent.clear()
        act()
        (woken,) = [n for n, command in enumerate(sent) if command[0] == "LPUSH"]
        published = [n for n, command in enumerate(sent) if command[0] == "PUBLISH"]
        assert woken > published[-1], "the count on the other shard changed before"


def test_the_drain_begins_also_if_the_other_shard_does_not_answer(
    world: None, sent: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_way(alias: str, call: object) -> None:
        raise GaveWay(alias)

    me, other = (int(one.id) for one in make_pair())
    post = publish(other)
    for consumers in (posts.consumers, relations.consumers):
        monkeypatch.setattr(consumers, "attempt", give_way)
    for act in (lambda: mark_post(me, post, Kind.FAVOURITE, True), lambda: follow(me, other)):
        sent.clear()
        act()
        assert len([command for command in sent if command[0] == "LPUSH"]) == 1


def _is_time_of(account_id: int, command: tuple[Any, ...]) -> bool:
    return command[:3] == ("HSET", viewer_key(account_id), ViewerField.WROTE.value)


def test_a_write_is_late_until_a_proof_from_after_it_was_seen(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved_at = [0.0]
    monkeypatch.setattr(LISTENER, "has_all_since", lambda moment: proved_at[0] > moment)
    me, _ = (int(one.id) for one in make_pair())

    def wrote_lately() -> bool:
        return answer(ValidatorsQuestion(me)).wrote_lately

    assert not wrote_lately()
    publish(me)
    proved_at[0] = time.monotonic()
    assert wrote_lately(), "the proof is from before this process saw the write"
    assert wrote_lately()
    proved_at[0] = time.monotonic()
    assert not wrote_lately()
    publish(me)
    assert wrote_lately(), "another write"
