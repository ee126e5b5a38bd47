"""Random histories of all writes against the oracle: rows on both sides, counts, cached lists."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from infra.api.pages import Window
from infra.caching.client import redis
from infra.changes.compensate import drain
from infra.changes.lanes import lane_of
from infra.sharding.buckets import shard_of
from relations.actions import approve_waiting
from relations.actions import block as block_module
from relations.actions.block import block, unblock
from relations.actions.follow import (
    approve_request,
    follow,
    reject_request,
    remove_follower,
    unfollow,
)
from relations.cache import FOLLOWERS, FOLLOWING, QUIET
from relations.errors import CannotFollowBlocked, FollowRequestNotFound
from relations.queries.edge_lists import QUIET_FOLLOWERS_LIST, REQUESTS_LIST, list_page
from relations.types import Edge, FollowOptions
from tests.cached_lists import LISTS, assert_cached_lists_agree, cached_members, write_lists
from tests.contradictions import assert_no_contradiction
from tests.relations_oracle import ASKED, ASKED_QUIETLY, OPEN, OracleEdge, RelationsOracle
from tests.relations_oracle import QUIET as QUIETLY
from tests.truth import assert_drained_truth, backward_edges, forward_edges
from tests.world import clean, drain_all, make_accounts

pytestmark = pytest.mark.slow

KINDS = (
    CounterKind.FOLLOWING,
    CounterKind.QUIET_FOLLOWING,
    CounterKind.BLOCKED,
    CounterKind.FOLLOWERS,
    CounterKind.QUIET_FOLLOWERS,
    CounterKind.SENT_REQUESTS,
    CounterKind.FOLLOW_REQUESTS,
)
maybe = st.sampled_from([None, None, True, False])
# The oracle knows no languages: tests/integration/timelines/test_exclusive_lists.py has them.
wishes = st.builds(
    FollowOptions, quiet=maybe, special=maybe, reposts=maybe, notify=maybe, languages=st.none()
)


def steps_of(people: int) -> st.SearchStrategy[list[tuple[str, int, int, object]]]:
    """The actor, the write, and the target: counted on from the actor, so it is another account."""
    who, whom = st.integers(0, people - 1), st.integers(1, people - 1)
    # of a block: whether the other shard can be reached before the answer
    how = {"follow": wishes, "block": st.booleans(), "unblock": st.booleans()}
    often = ("follow", "follow", "block", "unblock", "blink", "drain")
    seldom = ("unfollow", "remove_follower", "drain_lane", "warm", "flush", "toggle_lock")
    answers = ("approve", "reject", "approve")
    step = st.one_of(
        st.tuples(st.just(name), who, whom, how.get(name, st.none()))
        for name in (*often, *often, *seldom, *answers)
    )
    return st.lists(step, min_size=8, max_size=30)


class History:
    """Runs steps on the product and on the oracle; after each step both sides are compared."""

    def __init__(self, people: int) -> None:
        self.people = make_accounts(people)
        self.oracle = RelationsOracle()
        self.before = forward_edges()
        self.now_ms = 1_000
        # Accounts whose profile changed, and written edges, that are not drained.
        self.changed: set[int] = set()
        self.asked: set[tuple[int, int]] = set()

    def run(self, name: str, who: int, whom: int, how: object) -> None:
        a, b = self.people[who], self.people[(who + whom) % len(self.people)]
        self.now_ms += 1
        getattr(self, name)(a, b, how)
        self.check_forward()
        assert_no_contradiction(a, b)
        assert_no_contradiction(b, a)

    def follow(self, a: int, b: int, wish: FollowOptions) -> None:
        expected = self.oracle.follow(a, b, _wish(wish), self.now_ms)
        if expected is None:
            with pytest.raises(CannotFollowBlocked):
                follow(a, b, wish)
        else:
            assert follow(a, b, wish, lambda: self.now_ms) is expected
            if expected:
                self.asked.add((a, b))

    def unfollow(self, a: int, b: int, _: None) -> None:
        is_ended = self.oracle.unfollow(a, b)
        assert unfollow(a, b) is is_ended

    def remove_follower(self, a: int, b: int, _: None) -> None:
        assert remove_follower(a, b) is self.oracle.unfollow(b, a)
        self.oracle.mirror(b, a)

    def toggle_lock(self, a: int, *_: object) -> None:
        """A locked account keeps its followers. The drain approves the requests of another one."""
        self.oracle.locked ^= {a}
        self.changed.add(a)
        update_profile(a, ProfileEdit(is_locked=a in self.oracle.locked))

    def approve(self, a: int, b: int, _: None) -> None:
        self._answer(a, b, True, partial(approve_request, a, b, lambda: self.now_ms))

    def reject(self, a: int, b: int, _: None) -> None:
        self._answer(a, b, False, partial(reject_request, a, b))

    def _answer(self, a: int, b: int, is_approved: bool, act: Callable[[], None]) -> None:
        is_answered = self.oracle.answer(b, a, is_approved, self.now_ms)
        if is_answered:
            act()
        else:
            with pytest.raises(FollowRequestNotFound):
                act()
        self.oracle.mirror(b, a)

    def block(self, a: int, b: int, is_mirrored: bool) -> None:
        with _reachable(is_mirrored):
            is_changed = self.oracle.block(a, b, self.now_ms)
            assert block(a, b, lambda: self.now_ms) is is_changed
        if is_mirrored:
            self.oracle.mirror(a, b)

    def unblock(self, a: int, b: int, is_mirrored: bool) -> None:
        with _reachable(is_mirrored):
            is_changed = self.oracle.unblock(a, b)
            assert unblock(a, b) is is_changed
        if is_mirrored:
            self.oracle.mirror(a, b)

    def blink(self, a: int, b: int, _: None) -> None:
        """A block that is taken back before it was mirrored."""
        self.block(a, b, is_mirrored=False)
        self.unblock(a, b, is_mirrored=False)

    def drain(self, *_: object) -> None:
        with self._approving():
            drain_all()
        self._settle(self.people)

    def drain_lane(self, a: int, *_: object) -> None:
        """Only one lane of one shard: the others are delivered later."""
        alias, lane = shard_of(a), lane_of(a)
        with self._approving():
            drain(alias, lane)
        self._settle([p for p in self.people if (shard_of(p), lane_of(p)) == (alias, lane)])

    @contextmanager
    def _approving(self) -> Iterator[None]:
        """The clock of the drain is the one of the history."""
        with pytest.MonkeyPatch.context() as patch:
            approve = partial(approve_request, clock_ms=lambda: self.now_ms)
            patch.setattr(approve_waiting, "approve_request", approve)
            yield

    def _settle(self, drained: list[int]) -> None:
        """What the changes of these accounts did: mirrored their edges, and approved requests."""
        for account in drained:
            self.oracle.mirror_all_of(account)
        for a, b in list(self.oracle.edges):
            is_read = b in self.changed.intersection(drained)
            is_read = is_read or (a in drained and (a, b) in self.asked)
            if is_read and b not in self.oracle.locked and self.oracle.edges[a, b].is_request:
                self.oracle.mirror(b, a)
                self.oracle.answer(a, b, True, self.now_ms)
                self.oracle.mirror(a, b)
        self.changed.difference_update(drained)
        self.asked = {pair for pair in self.asked if pair[0] not in drained}

    def warm(self, a: int, *_: object) -> None:
        write_lists(a)

    def flush(self, *_: object) -> None:
        redis().call("FLUSHDB")

    def check_forward(self) -> None:
        """After every step, drained or not: own edges as expected, and no follow with a block."""
        before, self.before = self.before, forward_edges()
        for pair, edge in self.before.items():
            assert _facts(edge) == _expected(self.oracle.edges[pair]), pair
            old = before.get(pair)
            is_same = old is not None and _facts(old) == _facts(edge)
            assert (old is not None and old.revision == edge.revision) is is_same
        for a in self.people:
            assert cached_members(LISTS[0], a) in (None, self.oracle.of_state(a, OPEN, QUIETLY))

    def check_drained(self) -> None:
        self.drain()
        self.check_lists()
        assert_drained_truth()
        assert backward_edges() == forward_edges()
        counts = load_counts(self.people, KINDS)
        for a in self.people:
            assert tuple(counts[a][kind].value for kind in KINDS) == self.oracle.counts(a)

    def check_lists(self) -> None:
        assert_cached_lists_agree(self.people)
        for a in self.people:
            write_lists(a)
            lists = {kept.cache.family: cached_members(kept, a) for kept in LISTS}
            assert lists == {
                FOLLOWING.family: self.oracle.of_state(a, OPEN, QUIETLY),
                QUIET.family: self.oracle.of_state(a, QUIETLY),
                FOLLOWERS.family: self.oracle.followers(a, OPEN),
            }
            quiet = list_page(QUIET_FOLLOWERS_LIST, a, Window(len(self.people))).items
            assert [one.account_id for one in quiet] == self.oracle.followers(a, QUIETLY)
            asked = list_page(REQUESTS_LIST, a, Window(len(self.people))).items
            requests = self.oracle.followers(a, ASKED, ASKED_QUIETLY)
            assert [one.account_id for one in asked] == requests


@contextmanager
def _reachable(is_mirrored: bool) -> Iterator[None]:
    """Whether a block is mirrored before the answer, or by the drain."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_mirrored:
            patch.setattr(block_module, "mirror_now", lambda *pair: False)
        yield


def _wish(wish: FollowOptions) -> dict[str, bool | None]:
    """As the oracle names flags."""
    hides = None if wish.reposts is None else not wish.reposts
    return {
        "quiet": wish.quiet,
        "SPECIAL": wish.special,
        "HIDES_REPOSTS": hides,
        "NOTIFIES": wish.notify,
        "ENDORSED": wish.endorsed,
    }


def _facts(edge: Edge) -> tuple[int, int, set[str]]:
    return int(edge.attribute), edge.since_ms, {flag.name for flag in edge.flags}


def _expected(edge: OracleEdge) -> tuple[int, int, set[str]]:
    return edge.state, edge.since_ms, set(edge.flags)


@pytest.mark.parametrize("people", [2, 3])
def test_edges_counts_and_lists_are_what_the_oracle_says(world: None, people: int) -> None:
    @hypothesis.settings(max_examples=20, deadline=None)
    @given(steps=steps_of(people))
    def holds(steps: list[tuple[str, int, int, object]]) -> None:
        clean()
        history = History(people)
        for step in steps:
            history.run(*step)
        history.check_drained()

    holds()
