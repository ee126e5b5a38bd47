"""Private notes over HTTP: who sees them, when, and what they cost."""

from infra.caching.client import redis
from relations.models import AccountNote
from tests.budgets import count_calls
from tests.callers import Caller
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
