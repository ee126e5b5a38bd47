"""audit edges during writes and drains: it does not report changes that are on their way."""

import pytest
from django.conf import settings

from infra.jobs import findings
from infra.jobs.audit import AuditRun
from infra.jobs.types import Work
from relations.actions.follow import follow
from relations.jobs import audit_forward
from relations.verbs import AuditEdges
from tests.integration.relations.jobs.busy import Busy, blocker, drainer, toggler
from tests.integration.relations.jobs.damage import delete_edge, write_backward
from tests.truth import assert_drained_truth, backward_edges
from tests.world import drain_all, make_accounts

pytestmark = pytest.mark.slow

AUDITS = 6


def audit(busy, repair):
    work = Work(settings.SHARD_ALIASES, batch_size=5)
    return [
        line
        for batch in AuditEdges.compare(work, AuditRun(busy.pause, repair))
        for line in batch.details
    ]


@pytest.fixture(autouse=True)
def tireless(settings, monkeypatch):
    settings.FOLLOWS_PER_DAY = 1_000_000
    for module in (findings, audit_forward):  # as long as ever: a drain takes a moment
        monkeypatch.setattr(module, "COMPARE_EVERY_S", 0.1)


def test_nothing_is_reported_that_is_only_on_its_way(world):
    a, b, c, d, e, f = people = make_accounts(6)
    for person in people:
        for other in people:
            if person != other:
                follow(person, other)
    drain_all()
    writes = [toggler(a, b), toggler(b, a), toggler(c, a), blocker(d, e), drainer]
    with Busy(*writes) as busy:
        reports = [line for _ in range(AUDITS) for line in audit(busy, repair=False)]
        repairs = [line for _ in range(AUDITS) for line in audit(busy, repair=True)]
    assert reports == []
    assert repairs == []
    assert busy.rounds > 5 * len(writes)
    drain_all()
    assert_drained_truth()
    assert backward_edges()[f, a].is_follow


def test_what_is_broken_is_found_and_repaired_among_what_moves(world):
    a, b, c, d = make_accounts(4)
    for one, other in ((c, a), (d, b), (d, a)):
        follow(one, other)
    drain_all()
    with Busy(toggler(a, b), toggler(b, a), drainer) as busy:
        delete_edge("backward", c, a)
        write_backward(d, b, "revision = 40, attribute = 0")
        lines = audit(busy, repair=True)
        again = audit(busy, repair=True)
    assert f"edge {c} → {a}: backward edge is missing: repaired" in lines
    assert f"edge {d} → {b}: backward edge is ahead, an end was lost: repaired" in lines
    assert all(line.endswith(": repaired") for line in lines)
    assert again == []
    drain_all()
    assert [line for line in audit(busy, repair=True) if "account" not in line] == []
    assert_drained_truth()
