"""Relationships with many accounts at once through HTTP: order, flags, bad input, cost."""

from typing import Any

from infra.caching.client import redis
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.cache import RELATIONSHIPS
from relations.queries.edge_lists import FOLLOWERS_LIST
from relations.types import FollowOptions, ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.relations.edge_rows import write_list
from tests.people import cast
from tests.world import drain_all, make_accounts

RELATIONSHIPS_PATH = "/api/v1/accounts/relationships"
FOLLOWED_BY = "/api/v1/accounts/followed_by"
NO_IDS = ["", "0", "-1", "abc", "1e3", "٣", "\x00", "0x1", " 1", "9" * 400, "2000000000"]


people = cast(4)


def relationship(caller: Caller, other: int) -> dict[str, Any]:
    (entity,) = caller.get(RELATIONSHIPS_PATH, {"id[]": other}).json()
    return entity


def flags(entity: dict[str, Any]) -> set[str]:
    return {name for name, value in entity.items() if value is True}


def test_flags_of_follows(people, me):
    ann, bob, eve, joe = people
    follow(ann, bob)
    follow(ann, eve, FollowOptions(quiet=True, special=True, notify=True))
    follow(ann, joe, FollowOptions(reposts=False))
    follow(joe, ann, FollowOptions(quiet=True))
    drain_all()
    assert flags(relationship(me, bob)) == {"following", "showing_reblogs"}
    assert flags(relationship(me, eve)) == {
        "following", "showing_reblogs", "notifying", "quiet_following", "special"
    }  # fmt: skip
    assert flags(relationship(me, joe)) == {"following", "followed_by", "mutual"}
    assert flags(relationship(Caller(bob), ann)) == {"followed_by"}
    assert flags(relationship(Caller(eve), ann)) == {"followed_by"}, "not that it is quiet"


def test_flags_of_blocks_of_which_nothing_but_the_block_is_left(people, me):
    ann, bob, *_ = people
    follow(ann, bob)
    follow(bob, ann)
    drain_all()
    relationship(me, bob), relationship(Caller(bob), ann)
    block(ann, bob)
    assert flags(relationship(me, bob)) == {"blocking"}
    assert flags(relationship(Caller(bob), ann)) == {"blocked_by"}


def test_flags_of_mutes_and_when_they_end(people, me, monkeypatch):
    ann, bob, eve, joe = people
    mute(ann, bob)
    mute(ann, eve, duration_s=3_600, hides_notifications=False, clock_ms=lambda: 1_790_000_000_123)
    mute(ann, joe, duration_s=1, clock_ms=lambda: 1_000)
    monkeypatch.setattr("relations.api.views.relationships.now_ms", lambda: 1_790_000_000_500)
    shown = [relationship(me, other) for other in (bob, eve, joe)]
    assert [flags(entity) for entity in shown] == [
        {"muting", "muting_notifications"}, {"muting"}, set()
    ]  # fmt: skip
    ends = [entity["muting_expires_at"] for entity in shown]
    assert ends == [None, "2026-09-21T15:13:20.123Z", None]


def test_a_mute_that_ended_by_itself_is_over_in_cached_answers_too(people, me, monkeypatch):
    ann, bob, *_ = people
    now = 1_790_000_000_000
    monkeypatch.setattr("relations.api.views.relationships.now_ms", lambda: now)
    mute(ann, bob, duration_s=10, clock_ms=lambda: now)
    assert relationship(me, bob)["muting"] is True
    now += 10_000
    with count_calls() as calls:
        assert relationship(me, bob)["muting"] is False
    assert calls.sql.total() == 0


def test_a_hundred_warm_targets_cost_one_round_trip(people, me):
    ann, bob, *_ = people
    others = make_accounts(98)
    follow(ann, bob)
    mute(ann, others[5])
    drain_all()  # else the answer shows what is pending, and is not remembered
    asked = {"id[]": [*others, bob, ann]}
    first = me.get(RELATIONSHIPS_PATH, asked)
    assert [e["id"] for e in first.json()] == [str(i) for i in asked["id[]"]]
    with count_calls() as calls:
        assert me.get(RELATIONSHIPS_PATH, asked).content == first.content
    assert (calls.sql.total(), calls.round_trips) == (0, 1)
    assert redis().call("HLEN", RELATIONSHIPS.key(ann)) <= 1 + 2 + 4


def test_what_mastodon_ignores_is_ignored(people, me):
    _, bob, *_ = people
    query = {"id[]": [bob], "with_suspended": "true", "nonsense": "1"}
    assert [e["id"] for e in me.get(RELATIONSHIPS_PATH, query).json()] == [str(bob)]


class TestFollowedBy:
    def test_those_who_follow_me_in_the_order_asked(self, people, me):
        ann, bob, eve, joe = people
        follow(bob, ann)
        follow(joe, ann, FollowOptions(quiet=True))
        follow(ann, eve)
        drain_all()
        asked = [str(i) for i in (joe, eve, ann, bob, joe)]
        assert me.post(FOLLOWED_BY, {"id": asked}).json() == [str(joe), str(bob)]

    def test_bodies_of_every_shape_clients_send(self, people, me):
        ann, bob, *_ = people
        follow(bob, ann)
        drain_all()
        for body in ({"id": [str(bob)]}, {"id[]": [str(bob)]}, {"id": [bob]}, {"id": str(bob)}):
            assert me.post(FOLLOWED_BY, body).json() == [str(bob)], body
        for form in ({"id[]": [bob]}, {"id": [bob]}):
            assert me.client.post(FOLLOWED_BY, form).json() == [str(bob)], form
        encoded = me.client.post(
            FOLLOWED_BY, f"id[]={bob}&id[]=7", "application/x-www-form-urlencoded"
        )
        assert encoded.json() == [str(bob)]

    def test_only_existing_accounts_that_were_asked_for_are_answered(self, people, me):
        assert me.post(FOLLOWED_BY, {"id": [*NO_IDS, -3, 2**63]}).json() == []

    def test_what_is_no_list_of_ids_is_refused(self, me):
        bodies: list[Any] = [{}, {"id": []}, {"id": None}, {"id": {"0": "1"}}, {"ids": ["1"]}]
        bodies += [{"id": ["1", odd]} for odd in (None, True, 1.5, [], {}, [1], {"a": 1})]
        for body in bodies:
            answer = me.post(FOLLOWED_BY, body)
            assert answer.status_code == 422, body
            assert answer.json()["error"].startswith("id must be a list")

    def test_more_than_a_hundred_are_refused(self, me):
        assert me.post(FOLLOWED_BY, {"id": [str(n) for n in range(1, 101)]}).status_code == 200
        for ids in (range(1, 102), [1] * 101):
            answer = me.post(FOLLOWED_BY, {"id": [str(n) for n in ids]})
            assert answer.status_code == 422
            assert "100" in answer.json()["error"]

    def test_an_account_with_more_followers_than_any_cache_holds(self, people, me):
        """No filter and no list covers so many followers; pairs that were read lately do."""
        ann, *others = people
        write_list(FOLLOWERS_LIST, ann, [ListedAccount(n, 1_000 + n) for n in range(6_000)])
        fans = [str(n) for n in range(1_000, 1_050)]
        asked = {"id": [*fans, *(str(n) for n in range(90_000, 90_050))]}
        assert me.post(FOLLOWED_BY, asked).json() == fans
        with count_calls() as calls:
            assert me.post(FOLLOWED_BY, asked).json() == fans
        assert (calls.sql.total(), calls.round_trips) == (0, 2), "a POST asks for its token first"
        follow(others[0], ann)
        drain_all()
        assert me.post(FOLLOWED_BY, {"id": [others[0], 90_000, 1_000]}).json() == [
            str(others[0]), "1000"
        ]  # fmt: skip
