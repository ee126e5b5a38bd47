"""One account that does as much as it may: each write costs the same, and others pay nothing."""

from collections.abc import Callable
from statistics import median

import pytest
from pytest_django import Settings

from tests.budgets import count_calls
from tests.callers import Caller
from tests.world import drain_all, make_accounts, publish

MANY = 60
# A count that is written often is hot: its move is postponed, by two statements and a round trip.
HOT_COUNT = 3
# Of a write or a page: statements and round trips together.
Cost = int


def cost_of(act: Callable[[], object]) -> Cost:
    with count_calls() as calls:
        act()
    return len(calls.statements) + calls.round_trips


def costs(caller: Caller, paths: list[str], status: int = 200) -> list[Cost]:
    def post(path: str) -> None:
        assert caller.post(path).status_code == status, path

    return [cost_of(lambda path=path: post(path)) for path in paths]


def assert_does_not_grow(found: list[Cost], more: Cost = 0) -> None:
    """By medians: what is asked once a second may fall into any write."""
    assert median(found[-10:]) <= median(found[:10]) + more


@pytest.mark.parametrize("act", ["follow", "block", "mute"])
def test_the_last_of_many_costs_what_the_first_did(
    world: None, settings: Settings, act: str
) -> None:
    settings.FOLLOW_CAP = MANY
    greedy, reader, *others = make_accounts(MANY + 3)
    Caller(reader).post(f"/api/v1/accounts/{greedy}/follow")
    publish(greedy)
    drain_all()
    home = Caller(reader)
    home.get("/api/v1/timelines/home")
    before = cost_of(lambda: home.get("/api/v1/timelines/home"))
    paths = [f"/api/v1/accounts/{other}/{act}" for other in others]
    assert_does_not_grow(costs(Caller(greedy), paths[:MANY]))
    if act == "follow":
        assert costs(Caller(greedy), paths[MANY:], 422), "the cap"
    drain_all()
    home.get("/api/v1/timelines/home")
    assert cost_of(lambda: home.get("/api/v1/timelines/home")) <= before


def test_all_names_in_a_post_are_found_by_one_statement(world: None) -> None:
    author, *named = make_accounts(40)
    caller = Caller(author)

    def post(text: str) -> None:
        assert caller.post("/api/v1/statuses", {"status": text}).status_code == 200

    post("warm")
    plain = cost_of(lambda: post("hello"))
    names = " ".join(f"@person{number}" for number in named)
    assert cost_of(lambda: post(names[:500])) == plain + 1


def test_a_storm_of_reposts_costs_a_reader_one_entry(world: None) -> None:
    reader, author, *reposters = make_accounts(MANY)
    caller = Caller(reader)
    for followee in (author, *reposters):
        caller.post(f"/api/v1/accounts/{followee}/follow")
    drain_all()
    post = publish(author)
    drain_all()
    assert len(caller.get("/api/v1/timelines/home").json()) == 1
    found = costs_of_reposts(post.public, reposters)
    assert_does_not_grow(found, more=HOT_COUNT)
    drain_all()
    assert len(caller.get("/api/v1/timelines/home").json()) == 1


def costs_of_reposts(public: str, reposters: list[int]) -> list[Cost]:
    callers = [Caller(reposter) for reposter in reposters]
    for caller in callers:  # the first request of a token reads it
        caller.get("/api/v1/accounts/verify_credentials")
    path = f"/api/v1/statuses/{public}/reblog"
    return [cost for caller in callers for cost in costs(caller, [path])]
