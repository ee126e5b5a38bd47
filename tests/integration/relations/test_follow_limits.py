"""The limits of follows and of follows begun in a day; over HTTP and by many at once."""

from functools import partial

import pytest

from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_one
from relations.actions.follow import follow, unfollow
from relations.actions.write_edge import DAY_MS
from relations.errors import FollowCapReached
from relations.queries.edge_lists import OWN_FOLLOWING_LIST
from relations.types import NO_OPTIONS, FollowOptions, ListedAccount
from tests.callers import Caller
from tests.integration.relations.edge_rows import write_list
from tests.people import cast
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, live_pairs
from tests.world import make_accounts

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
