"""The directory: which accounts it shows to whom, and what it costs."""

import time

import pytest
from django.test import Client

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, Restriction
from relations.actions.block import block
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.world import drain_all, make_accounts, publish, restrict

NEW = "/api/v1/directory?order=new"


def test_new_accounts_come_first_and_pages_do_not_overlap(world: None, client: Client) -> None:
    accounts = [str(one) for one in make_accounts(5)]
    assert ids_of(client.get(NEW)) == accounts[::-1]
    assert ids_of(client.get(f"{NEW}&limit=2")) == accounts[:2:-1]
    assert ids_of(client.get(f"{NEW}&limit=2&offset=2")) == accounts[2:0:-1]
    assert ids_of(client.get(f"{NEW}&offset=1000")) == []


def test_active_accounts_are_those_that_posted_last(world: None, client: Client) -> None:
    first, second, silent = make_accounts(3)
    now = time.time()
    for ago_s, author in ((3, first), (2, second), (1, first)):
        publish(author, clock_s=lambda ago_s=ago_s: now - ago_s)
    drain_all()
    shown = [str(first), str(second), str(silent)]
    assert ids_of(client.get("/api/v1/directory")) == shown, "those without a post are last"
    assert ids_of(client.get("/api/v1/directory?limit=1&offset=2")) == shown[2:]


def test_some_accounts_are_not_shown(world: None, client: Client) -> None:
    me, shown, limited, suspended, shy, blocked, blocking, muted = make_accounts(8)
    restrict(limited, Restriction.LIMITED)
    restrict(suspended, Restriction.SUSPENDED)
    update_profile(shy, ProfileEdit(is_discoverable=False))
    block(me, blocked)
    block(blocking, me)
    mute(me, muted)
    drain_all()
    mine = ids_of(Caller(me).get(NEW))
    assert mine == [str(shown), str(me)]
    everybody = {str(one) for one in (me, shown, blocked, blocking, muted)}
    assert {*ids_of(client.get(NEW))} == everybody


def test_a_wrong_parameter_is_refused(world: None, client: Client) -> None:
    for query in ["order=best", "limit=x", "offset=x", "local=maybe"]:
        assert client.get(f"/api/v1/directory?{query}").status_code == 422, query


@pytest.mark.parametrize(("order", "queries"), [("new", 1), ("active&limit=4", 0), ("active", 1)])
def test_a_warm_page_costs_little(world: None, order: str, queries: int) -> None:
    me, *others = make_accounts(5)
    for author in others:
        publish(author)
    drain_all()
    caller, path = Caller(me), f"/api/v1/directory?order={order}"
    caller.get(path)
    with count_calls() as calls:
        assert len(ids_of(caller.get(path))) >= len(others)
    assert calls.sql.total() == queries
    assert calls.round_trips <= 4
