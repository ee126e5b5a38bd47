"""Markers: all clients of one account move them, and no other account sees them."""

from functools import partial

import orjson
import pytest

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from posts.ids import LAST, PostId
from tests.budgets import count_calls
from tests.callers import Caller
from tests.races import run_together
from tests.world import make_account, make_accounts
from timelines.markers import cache
from timelines.markers.actions import move_markers
from timelines.markers.models import Marker

MARKERS = "/api/v1/markers"
BOTH = {"timeline[]": ["home", "notifications"]}
OLD, NEW = PostId(1, 2, 3).public, PostId(2, 2, 3).public


def body(answer, status=200):
    assert answer.status_code == status, answer.content
    return orjson.loads(answer.content)


def read(me):
    """The markers without their counts, which only reads have."""
    found = body(me.get(MARKERS, BOTH))
    for name in ("unread_count", "unread_is_more"):
        found.get("home", {}).pop(name, None)
    return found


def home(last_read_id, **more):
    return {"home": {"last_read_id": last_read_id, **more}}


def test_marker_is_moved_and_read_by_those_who_ask_for_it(me):
    assert body(me.get(MARKERS, BOTH)) == {}
    moved = body(me.post(MARKERS, home(OLD)))
    assert moved["home"].pop("updated_at").endswith("Z")
    assert moved == {"home": {"last_read_id": OLD, "version": 1}}
    body(me.post(MARKERS, {"notifications": {"last_read_id": 17}}))
    both = body(me.get(MARKERS, BOTH))
    assert [(name, one["last_read_id"]) for name, one in both.items()] == [
        ("home", OLD),
        ("notifications", "17"),
    ]
    assert [*body(me.get(MARKERS, {"timeline[]": ["notifications", "lists"]}))] == ["notifications"]
    # As clients send one name.
    assert [*body(me.get(MARKERS, {"timeline": "notifications"}))] == ["notifications"]
    assert body(me.get(MARKERS)) == {}


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (PostId(1, 2, 3).base36, OLD),
        (int(OLD), OLD),
        ("7", PostId(0, 0, 7).public),
        ("9" * 23, LAST.public),
    ],
)
def test_base36_and_made_up_numbers_are_shown_as_decimal_ids(me, sent, shown):
    assert body(me.post(MARKERS, home(sent)))["home"]["last_read_id"] == shown
    assert body(me.get(MARKERS, BOTH))["home"]["last_read_id"] == shown


def test_it_is_on_the_shard_of_its_account(world):
    for account in make_accounts(4):
        body(Caller(account).post(MARKERS, home(OLD)))
        assert Marker.objects.on(shard_of(account)).filter(account_id=account).count() == 1


def test_warm_markers_ask_no_shard_and_each_move_is_read_at_once(me):
    notifications = {"timeline[]": ["notifications"]}
    for number in (7, 9, 8):
        body(me.post(MARKERS, {"notifications": {"last_read_id": number}}))
        shown = body(me.get(MARKERS, notifications))["notifications"]["last_read_id"]
        assert shown == str(number)
        with count_calls() as calls:
            assert body(me.get(MARKERS, notifications))["notifications"]["last_read_id"] == shown
        assert calls.sql == {}
        redis().call("FLUSHDB")
        assert body(me.get(MARKERS, notifications))["notifications"]["last_read_id"] == shown


def test_a_slow_loader_brings_no_old_marker_back(me, monkeypatch):
    """It has read the row when another client moves the marker."""
    body(me.post(MARKERS, home(OLD)))
    load = cache.read_markers

    def move_after_read(*wanted):
        rows = load(*wanted)
        monkeypatch.setattr(cache, "read_markers", load)
        run_together([lambda: body(me.post(MARKERS, home(NEW)))])
        return rows

    monkeypatch.setattr(cache, "read_markers", move_after_read)
    read(me)
    assert read(me)["home"]["last_read_id"] == NEW


def test_a_move_that_died_is_read_when_it_is_repeated(me, monkeypatch):
    body(me.post(MARKERS, home(OLD)))
    assert read(me)["home"]["last_read_id"] == OLD
    with monkeypatch.context() as patch:
        patch.setattr(move_markers, "end_markers_of", lambda _: None)
        body(me.post(MARKERS, home(NEW)))
    body(me.post(MARKERS, home(NEW)))
    assert read(me)["home"]["last_read_id"] == NEW


def test_nobody_else_sees_it(me):
    body(me.post(MARKERS, home(OLD)))
    assert body(Caller(make_account()).get(MARKERS, BOTH)) == {}


def test_same_move_again_changes_nothing(me):
    first = body(me.post(MARKERS, home(OLD)))
    assert body(me.post(MARKERS, home(OLD))) == first
    assert body(me.post(MARKERS, home(OLD, version=1))) == first
    assert read(me) == first


def test_marker_may_go_back(me):
    body(me.post(MARKERS, home(NEW)))
    assert body(me.post(MARKERS, home(OLD)))["home"]["version"] == 2


@pytest.mark.parametrize(("name", "new", "old"), [("home", NEW, OLD), ("notifications", "10", "9")])
def test_a_move_that_is_forward_only_does_not_go_back(me, name, new, old):
    def move_forward(last_read_id, **more):
        sent = {name: {"last_read_id": last_read_id, "forward_only": True, **more}}
        return body(me.post(MARKERS, sent))[name]

    assert move_forward(old)["version"] == 1
    further = move_forward(new)
    assert (further["last_read_id"], further["version"]) == (new, 2)
    assert move_forward(old) == move_forward(old, version=9) == move_forward(new) == further
    form = {f"{name}[last_read_id]": old, f"{name}[forward_only]": "true"}
    assert body(me.client.post(MARKERS, form))[name] == further
    assert body(me.post(MARKERS, {name: {"last_read_id": old}}))[name]["last_read_id"] == old


@pytest.mark.parametrize("version", [0, 4, 5])
def test_version_that_is_not_above_the_markers_is_a_conflict(me, version):
    before = body(me.post(MARKERS, home(OLD, version=5)))
    sent = {**home(NEW, version=version), "notifications": {"last_read_id": "9"}}
    answer = body(me.post(MARKERS, sent), 409)
    assert answer == {"error": "Conflict during update, please try again"}
    assert read(me) == before, "all or none"
    assert body(me.post(MARKERS, home(NEW, version=6)))["home"]["version"] == 6


def test_of_two_clients_with_one_version_one_wins(me):
    calls = [partial(move, me, PostId(n, 2, 3).public) for n in range(1, 7)]
    answers = run_together(calls)
    assert sorted(answers) == [200] + [409] * 5


def move(caller, last_read_id):
    return caller.post(MARKERS, home(last_read_id, version=1)).status_code


def test_fields_of_a_form(me):
    sent = {"home[last_read_id]": OLD, "home[version]": "3", "notifications[last_read_id]": "17"}
    moved = body(me.client.post(MARKERS, sent))
    assert [(one["last_read_id"], one["version"]) for one in moved.values()] == [
        (OLD, 3),
        ("17", 1),
    ]


def test_what_is_no_marker_is_refused(me):
    for sent in [
        home(""),
        home(None),
        home("-" * 14),
        home("0000010000020x"[1:]),
        home("00000100000203\u0000"),
        home(["00000100000203"]),
        home(True),
        home(OLD, version="x"),
        home(OLD, version=-1),
        home(OLD, version=2**31),
        home(OLD, version=True),
        home(OLD, version=[1]),
        home(OLD, forward_only="perhaps"),
        home(OLD, forward_only=[]),
        {"home": OLD},
        {"home": {}},
        {"home": {"version": 1}},
        {"home": None},
        {"notifications": {"last_read_id": "1" * 21}},
        {"notifications": {"last_read_id": "\u0661"}},
        {"notifications": {"last_read_id": -1}},
        {"notifications": {"last_read_id": "1\n"}},
        {"home[version]": 1},
    ]:
        assert "error" in body(me.post(MARKERS, sent), 422), sent
        assert body(me.get(MARKERS, BOTH)) == {}, sent


def test_what_cannot_be_marked_is_left_out(me):
    assert body(me.post(MARKERS, {"lists": {"last_read_id": "1"}})) == {}
    assert body(me.post(MARKERS)) == {}


def test_largest_version_is_not_the_last(me):
    body(me.post(MARKERS, home(OLD, version=2**31 - 1)))
    assert body(me.post(MARKERS, home(NEW)))["home"]["version"] == 2**31
