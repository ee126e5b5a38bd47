"""Accounts by their names, over HTTP.

The directory: which accounts it shows to whom, and what it costs.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from structlog.testing import capture_logs

from accounts.actions.update_profile import update_profile
from accounts.queries.search import NameMatch, NameSearch, search_names
from accounts.types import ProfileEdit, Restriction
from infra.sharding.buckets import shard_of
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import execute, fetch_all
from relations.actions.block import block, unblock
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.plans import nodes_of, rows_handled, settle
from tests.world import drain_all, make_account, make_accounts, publish, restrict
from timelines.search.queries import accounts as module

PATH = "/api/v1/accounts/search"
Names = list[str]


def found(caller: Caller, text: str, **query: Any) -> Names:
    answer = caller.get(PATH, {"q": text, **query})
    assert answer.status_code == 200, answer.content
    return [account["username"] for account in answer.json()]


def rename(account_id: int, name: str) -> None:
    update_profile(account_id, ProfileEdit(display_name=name))


@pytest.fixture
def searcher(world: None) -> int:
    return make_account("searcher")


def test_names_are_found_by_their_beginnings_in_any_spelling(searcher: int) -> None:
    rename(make_account("ann_lee"), "Élodie Müller")
    rename(make_account("ivan"), "Иван ПЕТРОВ")
    rename(make_account("taro"), "田中太郎 🎉")
    caller = Caller(searcher)
    for text in ("ann", "LEE", "@ann_l", "elod", "ÉLO", "mull", "müll elo", "ann_lee"):
        assert found(caller, text) == ["ann_lee"], text
    assert found(caller, "петр") == found(caller, "ИВАН") == ["ivan"]
    assert found(caller, "田中") == found(caller, "🎉") == ["taro"]
    assert found(caller, "elo petr") == found(caller, "xyz") == found(caller, "%") == []


def test_similar_names_are_found_if_no_name_begins_with_the_words(searcher: int) -> None:
    make_account("alice")
    make_account("alan")
    assert found(Caller(searcher), "alyce") == found(Caller(searcher), "lice") == ["alice"]
    make_account("alyce")
    assert found(Caller(searcher), "alyce") == ["alyce"]


def test_the_exact_name_then_mutuals_then_followees_then_followers(
    searcher: int, drain: Callable[[], int]
) -> None:
    exact, mutual, followee, known, unknown = (
        make_account(name) for name in ("bob", "bobby", "bobo", "bobina", "bobx")
    )
    for fan in make_accounts(2):
        follow(fan, known)
    follow(make_account(), followee)
    for follower, other in ((searcher, mutual), (mutual, searcher), (searcher, followee)):
        follow(follower, other)
    drain()
    caller = Caller(searcher)
    assert found(caller, "bob") == ["bob", "bobby", "bobo", "bobina", "bobx"]
    assert found(caller, "bob", limit=2, offset=1) == ["bobby", "bobo"]
    assert found(caller, "bob", offset=5) == found(caller, "bob", offset=100_000) == []
    assert found(caller, "bob", following="true") == ["bobby", "bobo"]
    assert unknown and exact


def test_addresses_are_resolved_exactly(searcher: int) -> None:
    make_account("bob")
    make_account("bobby")
    caller = Caller(searcher)
    here = "http://localhost:8000"
    for text in ("bob@localhost:8000", f"{here}/@bob", f"{here}/users/Bob"):
        assert found(caller, text, resolve="true") == ["bob"], text
    for text in ("bob@elsewhere.example", "https://elsewhere.example/@bob", f"{here}/@nothing"):
        assert found(caller, text, resolve="true") == [], text
    assert found(caller, f"{here}/@bob", following="true") == []


def test_who_is_hidden(searcher: int, drain: Callable[[], int]) -> None:
    """By a whole address too; test_who_sees_what.py has the other ways."""
    blocked, blocker = make_account("zoe1"), make_account("zoe2")
    caller = Caller(searcher)
    assert found(caller, "zoe") == ["zoe1", "zoe2"]
    block(searcher, blocked)
    block(blocker, searcher)
    drain()
    assert found(caller, "zoe") == found(caller, "zoe2@localhost:8000") == []
    # The whole name of an account that I block, so that I can end the block.
    assert found(caller, "zoe1@localhost:8000") == ["zoe1"]
    unblock(searcher, blocked)
    assert found(caller, "zoe") == ["zoe1"]


def test_a_new_name_is_found_at_once(searcher: int) -> None:
    account_id, caller = make_account("quentin"), Caller(searcher)
    rename(account_id, "Old")
    assert found(caller, "old") == ["quentin"]
    rename(account_id, "New")
    assert (found(caller, "old"), found(caller, "new")) == ([], ["quentin"])


def test_wrong_parameters_are_refused(searcher: int) -> None:
    for query in [{}, {"q": " "}, {"q": "\x00"}, {"q": "a" * 501}, {"q": "a", "limit": "x"},
              {"q": "a", "offset": "-1"}, {"q": "a", "resolve": "perhaps"}]:  # fmt: skip
        assert Caller(searcher).get(PATH, query).status_code == 422, query


def test_a_shard_that_does_not_answer_is_left_out(
    searcher: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {make_account(name): name for name in ("may1", "may2", "may3", "may4")}
    away, search = shard_of(min(names)), module.search_names

    def fail(alias: str, *arguments: Any) -> Any:
        if alias == away:
            raise OperationalError("away")
        return search(alias, *arguments)

    monkeypatch.setattr(module, "search_names", fail)
    with capture_logs() as logs:
        assert found(Caller(searcher), "may") == ["may2", "may3", "may4"]
    assert {entry["event"] for entry in logs} == {"scatter.database_left_out"}


def test_a_search_asks_each_shard_once(searcher: int, drain: Callable[[], int]) -> None:
    other = make_account("bob")
    follow(searcher, other)
    drain()
    caller = Caller(searcher)
    found(caller, "bob", limit=1)
    with count_calls() as calls:
        assert found(caller, "bob", limit=1) == ["bob"]
    # The default database finds the exact name.
    assert calls.sql == {"default": 1, "shard0": 1, "shard1": 1, "shard2": 1, "shard3": 1}
    assert calls.round_trips <= 5


COUNT = """
INSERT INTO counters_counter (owner_id, subject, kind, value, version) VALUES (%s, 0, 1, %s, 1)
ON CONFLICT (owner_id, subject, kind) DO UPDATE SET value = excluded.value
"""
FILL = """
INSERT INTO accounts_account (id, username, display_name, created_at)
SELECT 1048576 + n * 1024, 'u' || left(md5(n::text), 20), md5((n + 1)::text), now()
FROM generate_series(1, 2000) n
"""


def test_names_are_found_by_the_index(searcher: int) -> None:
    alias = shard_of(1_048_576)
    execute(alias, FILL)
    settle(alias, "accounts_account")
    with count_calls() as calls:
        assert len(found(Caller(searcher), "u", limit=10)) == 10
        found(Caller(searcher), "abcdef")
    searches = [one for one in calls.statements if one.alias == alias and "@@" in one.sql]
    for statement in searches:
        nodes = nodes_of(statement)
        assert "account_names" in {node.get("Index Name") for node in nodes}
        # Of other tables nothing is known here: they may be empty.
        whole = [node for node in nodes if node["Node Type"] == "Seq Scan"]
        assert "accounts_account" not in {node["Relation Name"] for node in whole}
        # A beginning that all names have costs no more than MOST_MATCHES of them, each read once.
        read = [node for node in nodes if node.get("Relation Name") == "accounts_account"]
        assert sum(map(rows_handled, read)) <= 400


WORDS = [
    "ann",
    "anna",
    "an",
    "Élo",
    "Müller",
    "мар",
    "Мария",
    "田",
    "田中太郎",
    "100%",
    "a_b",
    "\\",
]
ORACLE = """
SELECT id, accounts_words(username || ' ' || display_name) || accounts_fold(username),
    accounts_words(%s)
FROM accounts_account
"""


@pytest.mark.parametrize("seed", range(4))
def test_what_is_found_is_what_a_look_at_every_name_finds(world: None, seed: int) -> None:
    dice = random.Random(seed)
    accounts = make_accounts(40)
    followers = {one: dice.randrange(4) for one in accounts}
    for one in accounts:
        rename(one, dice.choice([" ", ""]).join(dice.sample(WORDS, dice.choice([1, 2, 3]))))
        execute(shard_of(one), COUNT, (one, followers[one]))
    for alias in shard_aliases():
        for _ in range(25):
            text = " ".join(word[: dice.choice([1, 2, 9])] for word in dice.sample(WORDS, 2))
            text = dice.choice([text, text.split()[0], text.upper(), f"person {text}"])
            limit, first = dice.choice([3, 80]), tuple(dice.sample(accounts, 3))
            own = tuple(one for one in first if shard_of(one) == alias)
            rows = fetch_all(alias, ORACLE, (text,))
            matches = [account for account, names, wanted in rows if begin(names, wanted)]
            matches.sort(key=lambda one: (one not in own, -followers[one], one))
            search = NameSearch(text, limit, own)
            found = [hit.account_id for hit in search_names(alias, search, NameMatch.BEGINNINGS)]
            assert found == matches[:limit], text


def begin(names: list[str], wanted: list[str]) -> bool:
    return bool(wanted) and all(any(name.startswith(word) for name in names) for word in wanted[:8])


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
