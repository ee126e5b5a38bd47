"""Private notes over HTTP: who sees them, when, and what they cost.

Endorsed accounts over HTTP: who sees them, when, and how long the mark stays.

Mutes hold at the next read, end by themselves, and are visible to the owner only.
"""

from typing import Any

import pytest
from django.test import Client

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.block import block
from relations.actions.endorse import endorse
from relations.actions.follow import follow
from relations.actions.mute import READ, mute, unmute
from relations.models import AccountNote
from relations.queries.relationships import load_relationships
from relations.types import NO_MUTE, NO_OPTIONS, FollowOptions, Mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, next_link
from tests.truth import assert_drained_truth
from tests.world import forget_memory, make_accounts

RELATIONSHIPS = "/api/v1/accounts/relationships"


def write(caller: Caller, target: int, comment: object = None, status: int = 200):
    answer = caller.post(f"/api/v1/accounts/{target}/note", {"comment": comment})
    assert answer.status_code == status, answer.content
    return answer.json()


def notes(caller: Caller, *targets: int) -> list[str]:
    return [one["note"] for one in caller.get(RELATIONSHIPS, {"id[]": targets}).json()]


def test_a_note_is_seen_by_its_owner_at_the_next_read(world):
    me, other, third = make_accounts(3)
    owner = Caller(me)
    assert notes(owner, other, third) == ["", ""]
    for text in ('a "quiet" one', "another", " padded "):
        assert write(owner, other, text)["note"] == text.strip()
        assert notes(owner, other, third) == [text.strip(), ""]
    assert notes(Caller(other), me) == notes(Caller(third), other) == [""]
    redis().call("FLUSHDB")
    forget_memory()
    assert notes(owner, other, third) == ["padded", ""]
    assert owner.post(f"/api/v1/accounts/{other}/mute").json()["note"] == "padded"
    assert write(owner, other, "")["note"] == ""
    assert notes(owner, other) == [""]
    assert not AccountNote.objects.of(me).exists()


def test_a_note_in_a_cached_relationship_is_seen_in_another_process(world):
    me, other = make_accounts(2)
    owner = Caller(me)
    assert notes(owner, other) == [""]  # cached, with the filter of related accounts
    write(owner, other, "met in Oslo")
    forget_memory()
    assert notes(owner, other) == ["met in Oslo"]


def test_only_noted_accounts_cost_a_query(world):
    me, other, third = make_accounts(3)
    owner = Caller(me)
    write(owner, other, "x")
    notes(owner, other, third)
    with count_calls() as calls:
        notes(owner, third)
        assert calls.statements == []
        notes(owner, other, third)
    assert len(calls.statements) == 1


def test_what_is_no_note_is_refused(world):
    me, other = make_accounts(2)
    write(Caller(me), other, "x" * 2_001, status=422)
    write(Caller(me), other, 7, status=422)
    write(Caller(me), other + 99, "x", status=404)


OWN = "/api/v1/endorsements"


def act(caller: Caller, target: int, word: str, status: int = 200):
    answer = caller.post(f"/api/v1/accounts/{target}/{word}")
    assert answer.status_code == status, answer.content
    return answer.json()


def shown(client: Caller | Client, owner: int) -> list[str]:
    return ids_of(client.get(f"/api/v1/accounts/{owner}/endorsements"))


def test_an_endorsed_account_is_on_the_profile_until_it_is_taken_off(world):
    me, other = make_accounts(2)
    owner, guest = Caller(me), Client()
    assert "following" in act(owner, other, "endorse", status=422)["error"]
    follow(me, other)
    for on, off in (("endorse", "unendorse"), ("pin", "unpin")):
        for _ in range(2):
            assert act(owner, other, on)["endorsed"] is True
        forget_memory()
        assert ids_of(owner.get(OWN)) == shown(guest, me) == [str(other)]
        assert act(owner, other, "follow")["endorsed"] is True
        for _ in range(2):
            assert act(owner, other, off)["endorsed"] is False
        assert ids_of(owner.get(OWN)) == shown(guest, me) == []


@pytest.mark.parametrize("ends", ["unfollow", "block"])
def test_the_mark_ends_with_the_follow(world, ends):
    me, other = make_accounts(2)
    owner = Caller(me)
    follow(me, other)
    endorse(me, other)
    assert act(owner, other, ends)["endorsed"] is False
    assert ids_of(owner.get(OWN)) == shown(Client(), me) == []
    if ends == "unfollow":
        assert act(owner, other, "follow")["endorsed"] is False


def test_the_mark_ends_when_the_other_account_blocks(world, drain):
    me, other = make_accounts(2)
    follow(me, other)
    endorse(me, other)
    block(other, me)
    drain()
    assert shown(Client(), me) == []


def test_only_the_owner_sees_that_it_endorses_a_quiet_follow(world):
    me, other = make_accounts(2)
    follow(me, other, FollowOptions(quiet=True))
    endorse(me, other)
    assert ids_of(Caller(me).get(OWN)) == shown(Caller(me), me) == [str(other)]
    assert shown(Client(), me) == shown(Caller(other), me) == []


def test_what_cannot_be_endorsed_is_refused(world):
    me, other = make_accounts(2)
    act(Caller(me), me, "endorse", status=422)
    act(Caller(me), other + 99, "endorse", status=404)
    assert act(Caller(me), other, "unendorse")["endorsed"] is False
    assert Client().get(f"/api/v1/accounts/{other + 99}/endorsements").status_code == 404


def test_pages_meet(world):
    me, *others = make_accounts(6)
    for n, other in enumerate(others):
        follow(me, other, NO_OPTIONS, clock_ms=lambda n=n: 1_800_000_000_000 + n)
        endorse(me, other)
    seen, path = [], f"/api/v1/accounts/{me}/endorsements?limit=2"
    while path:
        answer = Client().get(path)
        seen += ids_of(answer)
        path = next_link(answer)
    assert seen == [str(other) for other in reversed(others)]


def row(owner_id: int, target_id: int) -> Mute:
    found = fetch_one(shard_of(owner_id), READ, (owner_id, target_id))
    return Mute(*found) if found else NO_MUTE


def at(moment_ms: int) -> Any:
    return lambda: moment_ms


def test_rows_of_a_mute_through_its_life(world):
    me, other = make_accounts(2)
    mute(me, other, clock_ms=at(1_000))
    assert row(me, other) == Mute(True, True, 1, 1_000, 0)
    mute(me, other, duration_s=5, hides_notifications=False, clock_ms=at(2_000))
    assert row(me, other) == Mute(True, False, 2, 1_000, 7_000), "it goes on, with another end"
    mute(me, other, clock_ms=at(9_000))
    assert row(me, other) == Mute(True, True, 3, 9_000, 0), "it had ended, and begins again"
    assert unmute(me, other)
    assert row(me, other) == Mute(False, True, 4, 9_000, 0)
    assert not unmute(me, other)


def test_a_mute_changes_no_follow_and_no_count(world, drain):
    me, other = make_accounts(2)
    follow(me, other)
    follow(other, me)
    mute(me, other)
    drain()
    assert load_relationships(me, [other])[other][:3] == load_relationships(other, [me])[me][:3]
    assert_drained_truth()
