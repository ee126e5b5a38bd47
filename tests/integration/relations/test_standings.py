"""What lies between a viewer and others: as the rows say, warm in one trip and no query."""

from functools import partial

import pytest
from prometheus_client import REGISTRY
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.caching.bloom import OPEN_FILTER
from infra.caching.client import SingleClient, redis
from infra.changes.failpoints import arm, disarm
from relations.actions.block import block, unblock
from relations.actions.follow import follow, remove_follower, unfollow
from relations.actions.mute import mute, unmute
from relations.cache import STANDINGS, standing_changes
from relations.queries import standings as source
from relations.queries.standings import load_standings
from relations.types import STRANGER, Attribute, Flag, FollowWish, Standing
from tests.budgets import count_calls
from tests.races import failures, run_together
from tests.world import drain_all, make_account, make_accounts

NONE, FOLLOW, WHISPER, BLACK = Attribute
ROUNDS = 40


def standing(viewer: int, other: int) -> Standing:
    return load_standings(viewer, [other])[other]


def stored(viewer: int) -> int:
    """How many pairs Redis keeps."""
    return redis().call("HLEN", STANDINGS.key(viewer)) - 1


def assert_as_the_rows(*people: int) -> None:
    for viewer in people:
        assert load_standings(viewer, people) == source._read(viewer, people), viewer


@pytest.fixture
def small(monkeypatch):
    """Four relations are too many for a filter here."""
    few = STANDINGS._replace(max_filtered=3)
    for module in ("relations.cache", "relations.queries.standings"):
        monkeypatch.setattr(f"{module}.STANDINGS", few)


@pytest.fixture
def before_laying():
    """Runs an action once, between what a loader reads of the shard and its laying."""

    def arm_once(action) -> None:
        def run() -> None:
            disarm("standings.read")
            action()

        arm("standings.read", run)

    yield arm_once
    disarm("standings.read")


def no_redis(patch) -> None:
    def refuse(*_: object) -> None:
        raise RedisConnectionError

    patch.setattr(SingleClient, "run", refuse)


def make_every_standing() -> tuple[int, dict[int, Standing]]:
    me, *others = make_accounts(9)
    followed, quiet, fan, mutual, blocked, blocker, muted, left, stranger = *others, make_account()
    follow(me, followed, FollowWish(reposts=False, notify=True))
    follow(me, quiet, FollowWish(quiet=True, special=True))
    follow(fan, me, FollowWish(quiet=True))
    follow(me, mutual)
    follow(mutual, me)
    block(me, blocked)
    block(blocker, me)
    mute(me, muted, duration_s=60, hides_notifications=False, clock_ms=lambda: 1_000)
    follow(me, left)
    unfollow(me, left)
    drain_all()
    return me, {
        stranger: STRANGER,
        left: STRANGER,
        muted: Standing(is_muted=True, muted_until_ms=61_000),
        blocker: Standing(theirs=BLACK),
        blocked: Standing(mine=BLACK),
        mutual: Standing(FOLLOW, theirs=FOLLOW),
        fan: Standing(theirs=WHISPER),
        quiet: Standing(WHISPER, Flag.SPECIAL),
        followed: Standing(FOLLOW, Flag.HIDES_REPOSTS | Flag.NOTIFIES),
        me: STRANGER,
    }


def test_every_standing_cold_warm_and_without_redis(world, monkeypatch):
    me, expected = make_every_standing()
    for budget in ((2, 2), (0, 1)):
        with count_calls() as calls:
            found = load_standings(me, expected)
        assert found == expected
        assert list(found) == list(expected), "in the order asked"
        assert (calls.sql.total(), calls.round_trips) == budget
    with monkeypatch.context() as patch, count_calls() as calls:
        no_redis(patch)
        assert load_standings(me, expected) == expected
    assert calls.sql.total() == 1


def test_each_is_answered_once_and_nobody_costs_nothing(world):
    me, bob, eve = make_accounts(3)
    assert list(load_standings(me, [eve, bob, eve])) == [eve, bob]
    with count_calls() as calls:
        assert load_standings(me, []) == {}
    assert calls.round_trips == 0


def test_strangers_cost_no_key_and_no_query(world):
    me, friend = make_accounts(2)
    follow(me, friend)
    standing(me, friend)
    assert stored(me) == 1
    strangers = range(10_000, 10_100)
    with count_calls() as calls:
        found = load_standings(me, strangers)
    assert set(found.values()) == {STRANGER}
    # one in a hundred might be taken for more than a stranger, and be asked for
    assert (calls.sql.total(), calls.round_trips) in ((0, 1), (1, 2))
    assert stored(me) <= 1 + 3


def test_a_filter_is_kept_for_500_relations_in_a_kilobyte(world):
    me, friend = make_accounts(2)
    follow(me, friend)
    standing(me, friend)
    redis().call(*STANDINGS.change_command(me, range(2, 400)))
    assert redis().call("GET", STANDINGS.filter_key(me)) is None, "made for 33, dropped at 34"
    made = STANDINGS.make_filter(range(500))
    assert len(made) < 1_000


def acts(me: int, other: int):
    yield partial(follow, me, other)
    yield partial(follow, me, other, FollowWish(quiet=True))
    yield partial(follow, me, other, FollowWish(special=True, reposts=False))
    yield partial(mute, me, other)
    yield partial(unmute, me, other)
    yield partial(unfollow, me, other)
    yield partial(block, me, other)
    yield partial(unblock, me, other)
    yield partial(follow, other, me)
    yield drain_all
    yield partial(remove_follower, me, other)
    yield partial(block, other, me)
    yield partial(unblock, other, me)


def test_every_act_shows_at_the_next_read_of_both(world):
    """No drain has run, apart from where somebody else's follow has to come over."""
    me, other = make_accounts(2)
    for act in acts(me, other):
        load_standings(me, [other]), load_standings(other, [me])
        act()
        assert_as_the_rows(me, other)


def test_a_block_shows_to_the_blocked_before_any_drain(world):
    me, other = make_accounts(2)
    follow(other, me)
    drain_all()
    assert (standing(other, me), standing(me, other)) == (Standing(FOLLOW), Standing(theirs=FOLLOW))
    block(me, other)
    assert (standing(other, me), standing(me, other)) == (Standing(theirs=BLACK), Standing(BLACK))


def test_who_has_too_many_relations_keeps_pairs_and_no_filter(world, small, drain):
    me, *fans = make_accounts(5)
    stranger = make_account()
    for fan in fans:
        follow(fan, me)
    drain()
    expected = {stranger: STRANGER} | dict.fromkeys(fans, Standing(theirs=FOLLOW))
    assert load_standings(me, expected) == expected
    assert redis().call("GET", STANDINGS.filter_key(me)) == OPEN_FILTER
    with count_calls() as calls:
        assert load_standings(me, expected) == expected
    assert (calls.sql.total(), calls.round_trips) == (0, 1), "the stranger's pair is kept too"
    follow(stranger, me)
    drain()
    assert standing(me, stranger) == Standing(theirs=FOLLOW)


@pytest.mark.parametrize("is_known", [False, True])
def test_a_change_while_a_loader_reads_is_not_undone(world, before_laying, is_known):
    me, other = make_accounts(2)
    if is_known:
        mute(me, other)
    before_laying(partial(follow, me, other))
    standing(me, other)
    assert standing(me, other).is_followed


def test_a_first_relation_while_the_filter_is_made_is_not_denied(world, before_laying):
    me, friend, new = make_accounts(3)
    follow(me, friend)
    before_laying(partial(follow, me, new))
    assert standing(me, friend).is_followed
    assert standing(me, new).is_followed
    redis().call("DEL", STANDINGS.filter_key(me))
    before_laying(partial(block, new, me))
    standing(me, friend), standing(me, 99_999)
    assert standing(me, new).is_blocked


def test_a_change_while_everything_is_lost_is_not_undone(world, before_laying):
    me, other = make_accounts(2)
    before_laying(lambda: (redis().call("FLUSHDB"), follow(me, other)))
    standing(me, other)
    assert standing(me, other).is_followed
    before_laying(lambda: (redis().call("FLUSHDB"), unfollow(me, other)))
    redis().call("FLUSHDB")
    standing(me, other)
    assert standing(me, other) == STRANGER


class Killed(BaseException):
    """What a process does not catch: it is gone."""


def die() -> None:
    raise Killed


def test_killed_between_the_commit_and_the_cache_the_drain_makes_it_right(world, monkeypatch):
    me, other, muted = make_accounts(3)
    load_standings(me, [other, muted]), load_standings(other, [me])
    with monkeypatch.context() as patch:
        patch.setattr("infra.changes.append.at_once_consumers_of", lambda kind: [die])
        patch.setattr("infra.changes.append.ring", lambda *_: die())
        for act in (partial(follow, me, other), partial(mute, me, muted)):
            with pytest.raises(Killed):
                act()
    drain_all()
    assert standing(me, other).is_followed
    assert standing(me, muted).is_muted
    assert_as_the_rows(me, other, muted)


@pytest.mark.parametrize(
    ("point", "act"),
    [("relations.mirrored_at_once", block), ("relations.blocked", block)],
)
def test_killed_between_the_other_side_and_its_cache(world, point, act):
    me, other = make_accounts(2)
    follow(other, me)
    drain_all()
    load_standings(other, [me]), load_standings(me, [other])
    arm(point, die)
    try:
        with pytest.raises(Killed):
            act(me, other)
    finally:
        disarm(point)
    drain_all()
    assert standing(other, me) == Standing(theirs=BLACK)
    assert_as_the_rows(me, other)


def test_a_drain_killed_after_the_rows_refreshes_what_has_no_news_left(world):
    me, fan = make_accounts(2)
    load_standings(me, [fan])
    follow(fan, me)
    arm("relations.mirrored", die)
    try:
        with pytest.raises(Killed):
            drain_all()
    finally:
        disarm("relations.mirrored")
    assert standing(me, fan) == STRANGER, "the rows are written, nothing was told"
    drain_all()
    assert standing(me, fan).follows_me


def test_changes_that_come_late_or_twice_change_nothing(world, monkeypatch):
    me, other = make_accounts(2)
    told = []
    monkeypatch.setattr(
        "relations.consumers.standing_changes",
        lambda pairs: told.append(list(pairs)) or [c for p in told for c in standing_changes(p)],
    )
    for act in acts(me, other):
        act()
        assert_as_the_rows(me, other)
    assert len(told) > 10


def test_racing_reads_and_acts_end_as_the_rows(world):
    people = make_accounts(3)
    me, bob, eve = people
    for turn in range(ROUNDS):
        redis().call("DEL", *([STANDINGS.key(me), STANDINGS.filter_key(me)][: 1 + turn % 2]))
        calls = [
            partial(load_standings, me, people),
            partial(load_standings, me, people),
            partial((follow, unfollow)[turn % 2], me, bob),
            partial((mute, unmute)[turn // 2 % 2], me, eve),
            partial((block, unblock)[turn // 3 % 2], eve, me),
        ]
        assert failures(run_together(calls)) == []
        assert_as_the_rows(*people)
    drain_all()
    assert_as_the_rows(*people)


def reads(tier: str, outcome: str) -> float:
    labels = {"family": "relations.standing", "tier": tier, "outcome": outcome}
    return REGISTRY.get_sample_value("tideline_cache_reads_total", labels) or 0


def test_reads_are_counted_by_tier(world):
    me, friend, muted, stranger = make_accounts(4)
    follow(me, friend)
    mute(me, muted)
    standing(me, friend)
    names = [("redis", "hit"), ("redis", "miss"), ("filter", "hit"), ("filter", "miss")]
    before = [reads(*name) for name in names]
    load_standings(me, [friend, muted, stranger])
    assert [reads(*n) - was for n, was in zip(names, before, strict=True)] == [1, 2, 1, 1]
