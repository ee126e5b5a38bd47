"""The end state of a service that keeps its promises is accepted; each corruption is refused."""

import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lab.faults.history.calls import ClientCall, Seen
from lab.faults.oracle.oracle import check_end_state
from tests.simulated_histories import SimulatedService, SimulatedState

Corruption = Callable[[SimulatedState, random.Random], None]


def run(seed: int, unknown_ratio: float) -> tuple[list[ClientCall], SimulatedState]:
    service = SimulatedService(random.Random(seed), unknown_ratio=unknown_ratio)
    return service.run(150), service.state()


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1, 0.4]))
@settings(max_examples=100)
def test_a_right_end_state_is_accepted(seed: int, unknown_ratio: float) -> None:
    assert check_end_state(*run(seed, unknown_ratio)) == []


def lose_a_post(state: SimulatedState, rng: random.Random) -> None:
    statuses = rng.choice([one for one in state.statuses.values() if one] or [[]])
    assume(statuses)
    statuses.pop(rng.randrange(len(statuses)))


def invent_a_post(state: SimulatedState, rng: random.Random) -> None:
    state.statuses[1].insert(0, Seen(10**15, 10**15, 1))


def change_a_home(state: SimulatedState, rng: random.Random) -> None:
    home = rng.choice([one for one in state.homes.values() if one] or [[]])
    assume(home)
    home.pop(rng.randrange(len(home)))


def show_in_another_home(state: SimulatedState, rng: random.Random) -> None:
    reader = rng.choice(sorted(state.homes))
    posts = {seen.post for seen in state.homes[reader]}
    others = [
        seen
        for account, statuses in state.statuses.items()
        for seen in statuses
        if seen.post not in posts and account != reader and seen.reposter is None
    ]
    assume(others)
    state.homes[reader] = sorted([*state.homes[reader], rng.choice(others)], reverse=True)


def forget_one_side(state: SimulatedState, rng: random.Random) -> None:
    pair = rng.choice(sorted(state.relationships))
    name = rng.choice(["following", "followed_by", "blocking", "blocked_by"])
    state.relationships[pair][name] = not state.relationships[pair][name]


def miscount(state: SimulatedState, rng: random.Random) -> None:
    counts = state.counts[rng.choice(sorted(state.counts))]
    counts[rng.choice(["followers", "following"])] += rng.choice([-1, 1])


def repeat_a_follower(state: SimulatedState, rng: random.Random) -> None:
    followers = rng.choice([one for one in state.followers.values() if one] or [[]])
    assume(followers)
    followers.append(followers[0])


def unmute(state: SimulatedState, rng: random.Random) -> None:
    muted = [flags for flags in state.relationships.values() if flags["muting"]]
    assume(muted)
    rng.choice(muted)["muting"] = 0


@pytest.mark.parametrize(
    ("corrupt", "rules"),
    [
        (lose_a_post, {"lost"}),
        (invent_a_post, {"invented"}),
        (change_a_home, {"home"}),
        (show_in_another_home, {"home"}),
        (forget_one_side, {"both sides"}),
        (miscount, {"counts"}),
        (repeat_a_follower, {"list"}),
        (unmute, {"edge"}),
    ],
)
def test_a_corruption_is_refused(corrupt: Corruption, rules: set[str]) -> None:
    @given(st.integers(0, 2**32))
    @settings(max_examples=30)
    def corrupted(seed: int) -> None:
        history, state = run(seed, 0.0)
        corrupt(state, random.Random(seed))
        assert {violation.rule for violation in check_end_state(history, state)} & rules

    corrupted()


def test_a_deleted_post_does_not_come_back() -> None:
    post = Seen(5, 5, 1)
    calls = [
        ClientCall(0, 1, "post", 0.0, 0.1, "ok", 200, made=5),
        ClientCall(0, 1, "delete", 1.0, 1.1, "ok", 200, target=5),
    ]
    state = SimulatedState(statuses={1: [post]}, counts={1: {"posts": 1}}, homes={1: [post]})
    state.followers[1] = state.following[1] = []
    state.counts[1] |= {"followers": 0, "following": 0}
    assert {violation.rule for violation in check_end_state(calls, state)} == {"gone"}


def test_an_unknown_post_is_decided_by_the_end() -> None:
    calls = [ClientCall(0, 1, "post", 0.0, 0.1, "unknown")]
    for posts in ([], [Seen(5, 5, 1)]):
        state = SimulatedState(statuses={1: posts}, counts={1: {"posts": len(posts)}})
        state.homes[1], state.followers[1], state.following[1] = posts, [], []
        state.counts[1] |= {"followers": 0, "following": 0}
        assert check_end_state(calls, state) == []
