"""The viewer log: it names each viewer whose validators change, and processes keep no others."""

import pytest

from infra import read_window
from infra.caching import viewer_log
from infra.caching.client import redis
from infra.caching.invalidation_log import LOG
from infra.caching.questions import RoundTrip
from infra.caching.viewer_log import KNOWN_S, MOST_ENTRIES, PAUSE_S, viewer_log_commands
from infra.caching.viewer_validators import (
    VIEWER_LOG,
    ValidatorsQuestion,
    ViewerField,
    drop_validator_commands,
    viewer_key,
)
from tests.integration.own_writes.acting import ACCOUNTS, STATUSES, Person, make_pair, publish
from tests.world import drain_all, make_account

FIELDS = [ViewerField.RELATIONSHIPS, ViewerField.FOLLOWING, ViewerField.STATE, ViewerField.POSTS]
FULL = {field.value: b"planted" for field in FIELDS}
ACTS = {
    "follow": ("follow", "unfollow", "block", "unblock", "mute", "unmute", "note"),
    "status": ("favourite", "unfavourite", "bookmark", "unbookmark", "reblog", "unreblog"),
}
VIEWER = 7


def plant(people):
    for one in people:
        redis().run([("HSET", viewer_key(int(one.id)), *[x for p in FULL.items() for x in p])])


def find_changed(people):
    """Those of whom a field was replaced or removed."""
    ids = [int(one.id) for one in people]
    return {i for i in ids if not FULL.items() <= read_hash(i).items()}


def read_hash(viewer_id):
    flat = redis().call("HGETALL", viewer_key(viewer_id))
    return dict(zip(flat[::2], flat[1::2], strict=True))


def read_named():
    """All accounts that the log names."""
    entries = redis().call("XRANGE", viewer_log.LOG_KEY, "-", "+")
    subjects = [fields[1][1:] for _, fields in entries if fields[1][:1] == b"v"]
    return {i for one in subjects for (i,) in viewer_log._ACCOUNT.iter_unpack(one)}


@pytest.fixture
def people(world):
    actor, other = make_pair()
    return actor, other, Person(make_account())


def assert_named(people, act):
    plant(people)
    redis().call("DEL", viewer_log.LOG_KEY)
    act()
    answered = find_changed(people)
    assert answered
    assert answered <= read_named()
    drain_all()
    assert find_changed(people) <= read_named()


@pytest.mark.parametrize("word", ACTS["follow"])
def test_changes_of_a_relationship_are_named(people, word):
    actor, other, _ = people
    other.act(f"{ACCOUNTS}/{actor.id}/follow")
    if word.startswith("un"):
        actor.act(f"{ACCOUNTS}/{other.id}/{word.removeprefix('un')}")
    drain_all()
    body = {"comment": "a friend"} if word == "note" else {}
    assert_named(people, lambda: actor.act(f"{ACCOUNTS}/{other.id}/{word}", body))


@pytest.mark.parametrize("word", ACTS["status"])
def test_changes_of_a_viewer_state_are_named(people, word):
    actor, other, _ = people
    path = f"{STATUSES}/{publish(other)}"
    if word.startswith("un"):
        actor.act(f"{path}/{word.removeprefix('un')}")
    drain_all()
    assert_named(people, lambda: actor.act(f"{path}/{word}"))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_changes_of_own_posts_are_named(people, method):
    actor = people[0]
    path = STATUSES if method == "POST" else f"{STATUSES}/{publish(actor)}"
    drain_all()
    assert_named(people, lambda: actor.act(path, {"status": "changed"}, method=method))


def test_answers_to_follow_requests_are_named(people):
    actor, other, _ = people
    other.act(f"{ACCOUNTS}/update_credentials", {"locked": True}, method="PATCH")
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    drain_all()
    path = f"/api/v1/follow_requests/{actor.id}/authorize"
    assert_named(people, lambda: other.act(path))


def test_a_filter_is_named(people):
    actor = people[0]
    wanted = {"title": "x", "context": ["home"], "keywords_attributes": [{"keyword": "x"}]}
    assert_named(people, lambda: actor.act("/api/v2/filters", wanted))


@pytest.fixture
def clock(world, monkeypatch):
    """A read whose window stays open until the clock is moved."""
    now = [1_000.0]
    for module in (read_window, viewer_log):
        monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    for log in (LOG, VIEWER_LOG):
        monkeypatch.setattr(log, "_clock", lambda: now[0])
        log.forget_all()
    monkeypatch.setattr(VIEWER_LOG, "_paused_until", 0.0)
    monkeypatch.setattr(read_window, "_changed_at", 0.0)
    monkeypatch.setattr(read_window, "WINDOW_S", 0.02)
    yield now
    for log in (LOG, VIEWER_LOG):
        log.forget_all()


def ask(viewer_id=VIEWER):
    """The validators, as one read of the API asks for them, and how many commands that took."""
    before = read_window.enter_read()
    try:
        trip = RoundTrip()
        log = trip.ask(LOG.ask())
        question = trip.ask(ValidatorsQuestion(viewer_id))
        count = len(log.commands()) + len(question.commands())
        trip.run()
        assert log.value is not None
        return question.value, count
    finally:
        read_window.leave_read(before)


def make_known():
    """The first read starts the log, the second one the viewer log; then the viewer is known."""
    redis().call("HSET", viewer_key(VIEWER), *[x for pair in FULL.items() for x in pair])
    assert [ask()[1] for _ in range(3)] == [2, 2, 0]


def test_a_known_viewer_costs_nothing_in_the_window_and_the_logs_after_it(clock):
    make_known()
    clock[0] += 0.03
    found, count = ask()
    assert (found.state, count) == (b"planted", 2)
    assert ask() == (found, 0)


def test_an_entry_ends_what_is_known(clock):
    make_known()
    clock[0] += 0.03
    redis().run(drop_validator_commands([VIEWER], ViewerField.STATE))
    assert ask()[0].state is None
    assert ask()[0].following == b"planted"


def test_outside_a_read_redis_is_asked(clock):
    make_known()
    trip = RoundTrip()
    question = trip.ask(ValidatorsQuestion(VIEWER))
    assert [command[0] for command in question.commands()] == ["HMGET"]


def test_a_process_that_was_not_busy_begins_again(clock):
    make_known()
    clock[0] += 1.0
    assert [ask()[1] for _ in range(3)] == [2, 2, 0]


def test_too_many_entries_pause_it(clock):
    make_known()
    clock[0] += 0.03
    redis().run([one for n in range(MOST_ENTRIES) for one in viewer_log_commands([n + 100])])
    clock[0] += 0.001
    assert ask()[0].state == b"planted"
    assert VIEWER_LOG.peek(VIEWER) is None
    assert ask()[1] == 1
    clock[0] += PAUSE_S + 0.01
    assert [ask()[1] for _ in range(3)] == [2, 2, 0]


def test_a_lost_log_ends_what_is_known(clock):
    make_known()
    clock[0] += 0.03
    redis().call("DEL", viewer_log.LOG_KEY)
    redis().call("DEL", viewer_key(VIEWER))
    assert ask()[0].state is None


def test_nothing_is_known_for_longer_than_a_bound(clock):
    make_known()
    redis().call("HSET", viewer_key(VIEWER), b"s", b"forgotten entry")
    for _ in range(int(KNOWN_S / 0.2)):
        clock[0] += 0.2
        ask()
    assert ask()[0].state == b"forgotten entry"


def test_a_change_of_this_process_closes_its_window(clock):
    make_known()
    redis().run(drop_validator_commands([VIEWER], ViewerField.STATE))
    assert ask()[0].state is None
