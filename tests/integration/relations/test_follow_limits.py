"""The limits of follows and of follows begun in a day; over HTTP and by many at once.

What a follow costs: statements of the request, and commands of Redis, those in scripts too.

One account that does as much as it may: each write costs the same, and others pay nothing.
"""

from collections.abc import Callable
from functools import partial
from statistics import median

import pytest
from pytest_django import Settings

from accounts.queries.load import load_account_json
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.follow import follow, unfollow
from relations.actions.write_edge import DAY_MS
from relations.errors import FollowCapReached
from relations.queries.edge_lists import OWN_FOLLOWING_LIST
from relations.types import NO_OPTIONS, FollowOptions, ListedAccount
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.relations.edge_rows import write_list
from tests.integration.timelines.homes import first_page
from tests.people import cast
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, live_pairs
from tests.world import drain_all, make_accounts, publish

ACCOUNTS = "/api/v1/accounts"
MIDNIGHT_MS = 20_000 * DAY_MS
CAP = 2_000


people = cast(8)


@pytest.fixture
def clock(monkeypatch):
    """Sets the time at which follows that come over HTTP happen."""

    def set_ms(moment_ms: int) -> None:
        monkeypatch.setattr(follow, "__defaults__", (NO_OPTIONS, lambda: moment_ms))

    return set_ms


def begun(account_id):
    sql = "SELECT begun FROM relations_followday WHERE account_id = %s"
    row = fetch_one(shard_of(account_id), sql, (account_id,))
    return row[0] if row else 0


def statuses(caller, targets, write="follow", body=None):
    return [caller.post(f"{ACCOUNTS}/{t}/{write}", body).status_code for t in targets]


class TestCap:
    @pytest.mark.parametrize("wish", [{}, {"quiet": True}], ids=["open", "quiet"])
    def test_the_2001st_is_422_whatever_it_is_like(self, people, settings, wish):
        settings.FOLLOW_CAP = 2
        ann, *others = people
        me = Caller(ann)
        assert statuses(me, others[:4], body=wish) == [200, 200, 422, 422]
        answer = me.post(f"{ACCOUNTS}/{others[2]}/follow", wish)
        expected = "Validation failed: You are following too many people already"
        assert answer.json() == {"error": expected}
        # The options of an existing follow may still change.
        assert statuses(me, others[:2], body={"quiet": not wish, "special": True}) == [200, 200]
        assert statuses(me, others[:1], "unfollow") == [200]
        assert statuses(me, others[2:4], body=wish) == [200, 422]
        assert begun(ann) == 3  # the refused do not count

    def test_64_at_once_at_1999_of_2000_let_one_through(self, world, settings):
        settings.FOLLOW_CAP, settings.FOLLOWS_PER_DAY = CAP, 100
        ann, *others = make_accounts(65)
        write_list(OWN_FOLLOWING_LIST, ann, [ListedAccount(n, 10**6 + n) for n in range(CAP - 1)])
        wishes = [FollowOptions(quiet=bool(n % 2), special=bool(n % 3)) for n in range(64)]
        answers = run_together(
            partial(follow, ann, other, wish) for other, wish in zip(others, wishes, strict=True)
        )
        assert answers.count(True) == 1
        assert all(isinstance(error, FollowCapReached) for error in failures(answers))
        assert len(live_pairs()) == CAP
        assert begun(ann) == 1


class TestDay:
    def test_the_limit_is_429_until_midnight(self, people, settings, clock):
        settings.FOLLOWS_PER_DAY = 2
        ann, *others = people
        me = Caller(ann)
        clock(MIDNIGHT_MS - 90_000)
        assert statuses(me, others[:3]) == [200, 200, 429]
        answer = me.post(f"{ACCOUNTS}/{others[2]}/follow")
        assert answer["Retry-After"] == "91"
        assert answer.json() == {"error": "You have followed too many people today"}
        clock(MIDNIGHT_MS - 1)
        answer = me.post(f"{ACCOUNTS}/{others[2]}/follow")
        assert (answer.status_code, answer["Retry-After"]) == (429, "1")
        clock(MIDNIGHT_MS)
        assert statuses(me, others[2:5]) == [200, 200, 429]
        assert Caller(others[0]).post(f"{ACCOUNTS}/{ann}/follow").status_code == 200

    def test_what_begins_nothing_does_not_count(self, people, settings, clock, drain):
        settings.FOLLOWS_PER_DAY = 2
        ann, bob, eve, joe, foe, *_ = people
        me = Caller(ann)
        clock(MIDNIGHT_MS)
        Caller(foe).post(f"{ACCOUNTS}/{ann}/block")
        drain()
        assert statuses(me, [foe, ann, 2_000_000_000]) == [403, 403, 404]
        assert statuses(me, [bob] * 3) == [200] * 3
        assert statuses(me, [bob], body={"quiet": True}) == [200]
        assert statuses(me, [bob], body={"special": True}) == [200]
        assert begun(ann) == 1
        assert statuses(me, [eve, joe, joe]) == [200, 429, 429]
        assert begun(ann) == 2
        assert statuses(me, [bob], body={"quiet": False}) == [200]
        drain()
        assert_drained_truth()

    def test_unfollowing_gives_nothing_back(self, people, settings, clock):
        settings.FOLLOWS_PER_DAY = 3
        ann, bob, *_ = people
        me = Caller(ann)
        clock(MIDNIGHT_MS)
        answers = []
        for _ in range(5):
            answers += statuses(me, [bob]) + statuses(me, [bob], "unfollow")
        assert answers == [200] * 6 + [429, 200] * 2

    def test_a_storm_of_toggles_begins_no_more_than_the_limit(self, people, settings, drain):
        settings.FOLLOWS_PER_DAY = 10
        ann, *others = people
        callers = [(Caller(ann), other) for other in others]

        def toggle(me, other):
            done = 0
            for _ in range(8):
                done += me.post(f"{ACCOUNTS}/{other}/follow").status_code == 200
                unfollow(ann, other)
            return done

        done = run_together(partial(toggle, *caller) for caller in callers)
        assert sum(done) == begun(ann) == 10
        drain()
        assert_drained_truth()


def test_a_follow_is_few_statements_and_commands(world: None) -> None:
    me, *others = make_accounts(6)
    caller = Caller(me)
    for author in others:
        publish(author)
    load_account_json(others)
    for author in others:
        with count_calls() as calls:
            assert caller.post(f"/api/v1/accounts/{author}/follow").status_code == 200
        drain_all()
        first_page(me)
    # the edge, and the relationship for the answer
    assert calls.sql.total() == 2
    assert calls.commands <= 14


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

    def least_cost_of(text: str) -> int:
        """A process may ask once more in between: what it keeps has ended, or a machine is slow."""
        return min(cost_of(lambda: post(text)) for _ in range(3))

    post("warm")
    plain = least_cost_of("hello")
    names = " ".join(f"@person{number}" for number in named)
    assert least_cost_of(names[:500]) == plain + 1


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
