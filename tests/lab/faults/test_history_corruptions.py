"""Random histories of a service that keeps its promises are accepted; each corruption is refused.

Corrupted histories have no concurrent calls and no unknown outcomes, so nothing excuses an answer.
"""

import random
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lab.faults.history.calls import ClientCall, Seen
from lab.faults.history.checker import check_history
from lab.faults.history.entries import poster_of
from lab.faults.history.promises import Promises
from tests.simulated_histories import reads_of, simulate

PROMISES = Promises(visible_s=0.5, recover_s=0.5)
ABSENT = {"own write", "backwards", "missing", "hole"}
HIDDEN = {"unfollowed", "muted", "blocked"}
Corruption = Callable[[list[ClientCall], random.Random], None]


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.3]), st.sampled_from([0.0, 0.5]))
@settings(max_examples=150)
def test_a_service_that_keeps_its_promises_is_accepted(
    seed: int, unknown_ratio: float, delay_s: float
) -> None:
    history = simulate(seed, 150, unknown_ratio=unknown_ratio, delay_s=delay_s)
    assert check_history(history, PROMISES) == []


def pick(
    calls: list[ClientCall], rng: random.Random, is_wanted: Callable[[ClientCall], bool]
) -> int:
    pages = [i for i, page in reads_of(calls, "home") if is_wanted(page)]
    assume(pages)
    return rng.choice(pages)


def put(calls: list[ClientCall], place: int, seen: Seen) -> None:
    page = calls[place]
    entries = sorted({*page.seen, seen}, reverse=True)
    calls[place] = replace(page, seen=tuple(entries))


def entries_before(calls: list[ClientCall], place: int) -> list[Seen]:
    """The posts that were written before this read."""
    before = (one for one in calls[:place] if one.kind == "post" and one.made)
    return [Seen(one.made or 0, one.made or 0, one.account) for one in before]


def drop(calls: list[ClientCall], rng: random.Random) -> None:
    """Not the last one of a page: a page may be short."""
    place = pick(calls, rng, lambda page: len(page.seen) > 1)
    seen = list(calls[place].seen)
    seen.pop(rng.randrange(len(seen) - 1))
    calls[place] = replace(calls[place], seen=tuple(seen))


def invent(calls: list[ClientCall], rng: random.Random) -> None:
    place = pick(calls, rng, lambda page: page.max_id is None)
    made = 10**12 + rng.randrange(1000)
    put(calls, place, Seen(made, made, calls[place].account))


def resurrect(calls: list[ClientCall], rng: random.Random) -> None:
    place = pick(calls, rng, lambda page: page.max_id is None)
    deleted = {one.target for one in calls[:place] if one.kind == "delete" and one.status == 200}
    gone = [one for one in entries_before(calls, place) if one.entry in deleted]
    assume(gone)
    put(calls, place, rng.choice(gone))


def show_unfollowed(calls: list[ClientCall], rng: random.Random) -> None:
    """An account that the reader has never followed by then."""
    place = pick(calls, rng, lambda page: page.max_id is None)
    reader = calls[place].account
    follows = {c.target for c in calls[:place] if (c.account, c.kind) == (reader, "follow")}
    removed = {one.target for one in calls if one.kind == "delete"}
    others = [
        one
        for one in entries_before(calls, place)
        if one.author not in {reader, *follows} and one.entry not in removed
    ]
    assume(others)
    put(calls, place, rng.choice(others))


def swap(calls: list[ClientCall], rng: random.Random) -> None:
    place = pick(calls, rng, lambda page: len(page.seen) > 1)
    calls[place] = replace(calls[place], seen=calls[place].seen[::-1])


def repeat(calls: list[ClientCall], rng: random.Random) -> None:
    place = pick(calls, rng, lambda page: len(page.seen) > 0)
    calls[place] = replace(calls[place], seen=(calls[place].seen[0], *calls[place].seen))


def answer_from_before(calls: list[ClientCall], rng: random.Random) -> None:
    """A whole page that was right at an earlier time."""
    whole = [(i, one) for i, one in reads_of(calls, "home") if one.is_last and one.max_id is None]
    pairs = [
        (late, early.seen)
        for _, early in whole
        for late, page in whole
        if page.account == early.account
        and early.ended_s < page.began_s
        and page.seen != early.seen
    ]
    assume(pairs)
    place, seen = rng.choice(pairs)
    calls[place] = replace(calls[place], seen=seen)


def flip_flag(calls: list[ClientCall], rng: random.Random) -> None:
    reads = [i for i, _ in reads_of(calls, "relationship")]
    assume(reads)
    place = rng.choice(reads)
    name = rng.choice(sorted(calls[place].facts))
    value = not calls[place].facts[name]
    calls[place] = replace(calls[place], facts=calls[place].facts | {name: value})


def miscount(calls: list[ClientCall], rng: random.Random) -> None:
    reads = [i for i, _ in reads_of(calls, "counts")]
    assume(reads)
    place = rng.choice(reads)
    name = rng.choice(sorted(calls[place].facts))
    value = calls[place].facts[name] + rng.choice([-1, 1])
    calls[place] = replace(calls[place], facts=calls[place].facts | {name: value})


def lose_own_post_in_poll(calls: list[ClientCall], rng: random.Random) -> None:
    """A post that another client of the account wrote after this client's first page.

    No call deletes or reposts it. The client's next read is a poll too, so no page shows it.
    """
    found, touched = [], {one.target for one in calls if one.kind in ("delete", "repost")}
    for i, poll in reads_of(calls, "poll"):
        reads = [c for c in calls if c.client == poll.client and c.kind in ("home", "poll")]
        first = [one.began_s for one in reads if one.kind == "home"][:1]
        later = [one for one in reads if one.began_s > poll.ended_s][:1]
        if later and later[0].kind == "poll" and later[0].is_last and poll.is_last:
            written = {c.made for c in calls[:i] if c.kind == "post" and [c.began_s] > first != []}
            found += [(i, one) for one in poll.seen if one.entry in written]
    found = [(i, one) for i, one in found if one.post not in touched]
    own = [(i, one) for i, one in found if poster_of(one) == calls[i].account]
    assume(own)
    place, lost = rng.choice(own)
    kept = tuple(one for one in calls[place].seen if one != lost)
    calls[place] = replace(calls[place], seen=kept)


@pytest.mark.parametrize(
    ("corrupt", "rules"),
    [
        (drop, ABSENT),
        (invent, {"invented"}),
        (resurrect, {"gone"}),
        (show_unfollowed, HIDDEN),
        (swap, {"order"}),
        (repeat, {"order"}),
        (answer_from_before, ABSENT | HIDDEN | {"gone", "order"}),
        (flip_flag, {"relationship", "contradiction"}),
        (miscount, {"counts"}),
        (lose_own_post_in_poll, {"lost"}),
    ],
)
def test_a_corruption_is_refused(corrupt: Corruption, rules: set[str]) -> None:
    @given(st.integers(0, 2**32))
    @settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
    def corrupted(seed: int) -> None:
        history = simulate(seed, 120, is_sequential=True, unknown_ratio=0.0, delay_s=0.2)
        corrupt(history, random.Random(seed))
        found = {violation.rule for violation in check_history(history, PROMISES)}
        assert found & rules

    corrupted()


def test_the_cost_is_linear_in_the_length_of_the_history() -> None:
    """Ten times the calls and entries cost at most twelve times the steps. Counted, not timed."""
    short, long = (simulate(1, calls, unknown_ratio=0.02) for calls in (1_500, 15_000))
    assert steps_per_item(long) <= 1.2 * steps_per_item(short)


def steps_per_item(history: list[ClientCall]) -> float:
    """Calls of functions for each call and each entry of the history."""
    steps = count()
    sys.setprofile(lambda *_: next(steps))
    try:
        check_history(history, PROMISES)
    finally:
        sys.setprofile(None)
    return next(steps) / sum(1 + len(call.seen) for call in history)
