"""Endorsed accounts over HTTP: who sees them, when, and how long the mark stays."""

import pytest
from django.test import Client

from relations.actions.block import block
from relations.actions.endorse import endorse
from relations.actions.follow import follow
from relations.types import NO_OPTIONS, FollowOptions
from tests.callers import Caller, ids_of, next_link
from tests.world import forget_memory, make_accounts

OWN = "/api/v1/endorsements"


def write(caller: Caller, target: int, word: str, status: int = 200):
    answer = caller.post(f"/api/v1/accounts/{target}/{word}")
    assert answer.status_code == status, answer.content
    return answer.json()


def shown(client: Caller | Client, owner: int) -> list[str]:
    return ids_of(client.get(f"/api/v1/accounts/{owner}/endorsements"))


def test_an_endorsed_account_is_on_the_profile_until_it_is_taken_off(world):
    me, other = make_accounts(2)
    owner, guest = Caller(me), Client()
    assert "following" in write(owner, other, "endorse", status=422)["error"]
    follow(me, other)
    for on, off in (("endorse", "unendorse"), ("pin", "unpin")):
        for _ in range(2):
            assert write(owner, other, on)["endorsed"] is True
        forget_memory()
        assert ids_of(owner.get(OWN)) == shown(guest, me) == [str(other)]
        assert write(owner, other, "follow")["endorsed"] is True
        for _ in range(2):
            assert write(owner, other, off)["endorsed"] is False
        assert ids_of(owner.get(OWN)) == shown(guest, me) == []


@pytest.mark.parametrize("ends", ["unfollow", "block"])
def test_the_mark_ends_with_the_follow(world, ends):
    me, other = make_accounts(2)
    owner = Caller(me)
    follow(me, other)
    endorse(me, other)
    assert write(owner, other, ends)["endorsed"] is False
    assert ids_of(owner.get(OWN)) == shown(Client(), me) == []
    if ends == "unfollow":
        assert write(owner, other, "follow")["endorsed"] is False


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
    write(Caller(me), me, "endorse", status=422)
    write(Caller(me), other + 99, "endorse", status=404)
    assert write(Caller(me), other, "unendorse")["endorsed"] is False
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
