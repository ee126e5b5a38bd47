"""audit_edges while people write and drains run: it reports nothing that is only on its way."""

import threading

import pytest
from django.conf import settings
from django.db import connections

from infra.changes.append import all_lanes
from infra.changes.drain import drain
from infra.jobs.types import Work
from infra.sharding.placement import all_aliases
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.errors import CannotFollowBlocked
from relations.jobs.audit_edges import audit_edges
from relations.types import FollowWish
from tests.integration.relations.jobs.damage import delete_edge, write_backward
from tests.truth import assert_drained_truth, backward_edges
from tests.world import drain_all, make_accounts

AUDITS = 6


class Busy:
    """Threads that write and drain until the block ends; what they raise is raised there."""

    def __init__(self, *acts):
        self.acts, self.errors, self.over = acts, [], threading.Event()
        self.rounds = 0

    def __enter__(self):
        self.threads = [threading.Thread(target=self._go_on, args=[act]) for act in self.acts]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(30)
        assert self.errors == []

    def _go_on(self, act):
        try:
            while not self.over.is_set():
                act()
                self.rounds += 1
        except Exception as error:
            self.errors.append(error)
        finally:
            connections.close_all()

    def pause(self, seconds):
        return not self.over.wait(seconds)


def toggler(one, other):
    def toggle():
        follow(one, other, FollowWish(quiet=True))
        follow(one, other, FollowWish(quiet=False, special=True))
        unfollow(one, other)

    return toggle


def blocker(one, other):
    def toggle():
        block(one, other)
        unblock(one, other)
        try:
            follow(other, one)
        except CannotFollowBlocked:
            raise AssertionError("nobody blocks any more") from None

    return toggle


def drainer():
    for alias in all_aliases():
        for lane in all_lanes():
            drain(alias, lane, max_batches=1)  # lanes in turn: writers fill them all the time


def audit(busy, repair):
    work = Work(settings.SHARD_ALIASES, batch_size=5)
    return [line for batch in audit_edges(work, repair, busy.pause) for line in batch.details]


@pytest.fixture(autouse=True)
def tireless(settings):
    settings.FOLLOWS_PER_DAY = 1_000_000


def test_nothing_is_reported_that_is_only_on_its_way(world):
    a, b, c, d, e, f = people = make_accounts(6)
    for person in people:
        for other in people:
            if person != other:
                follow(person, other)
    drain_all()
    acts = [toggler(a, b), toggler(b, a), toggler(c, a), blocker(d, e), drainer]
    with Busy(*acts) as busy:
        reports = [line for _ in range(AUDITS) for line in audit(busy, repair=False)]
        repairs = [line for _ in range(AUDITS) for line in audit(busy, repair=True)]
    assert reports == []
    assert repairs == []
    assert busy.rounds > 5 * len(acts)
    drain_all()
    assert_drained_truth()
    assert backward_edges()[f, a].is_follow


def test_what_is_broken_is_found_and_mended_among_what_moves(world):
    a, b, c, d = make_accounts(4)
    for one, other in ((c, a), (d, b), (d, a)):
        follow(one, other)
    drain_all()
    with Busy(toggler(a, b), toggler(b, a), drainer) as busy:
        delete_edge("backward", c, a)
        write_backward(d, b, "revision = 40, attribute = 0")
        lines = audit(busy, repair=True)
        again = audit(busy, repair=True)
    assert f"edge {c} → {a}: backward edge is missing: mended" in lines
    assert f"edge {d} → {b}: backward edge is ahead: mended" in lines
    assert all(line.endswith(": mended") for line in lines)
    assert again == []
    drain_all()
    assert [line for line in audit(busy, repair=True) if "account" not in line] == []
    assert_drained_truth()
