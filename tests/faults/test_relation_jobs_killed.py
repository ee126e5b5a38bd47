"""Jobs on relations are killed with -9 at any point; the next run has the same result."""

import pytest

from counters.kinds import CounterKind
from infra.api.pages import Window
from infra.jobs.models import JobCheckpoint, JobRun
from relations.management.commands import audit_edges, backfill_backward_edges, reset_relations
from relations.queries.edge_lists import FOLLOWERS_LIST, list_page
from relations.types import Attribute
from tests.faults import dying_job
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.damage import (
    delete_edge,
    forget_derived_side,
    make_network,
    write_backward,
    write_count,
)
from tests.truth import assert_drained_truth, backward_edges, forward_edges
from tests.world import drain_all


def kill_at(place, nth, *words):
    dying_job.kill_at(place, nth, *words)
    assert JobRun.objects.latest("id").state == JobRun.State.RUNNING


def followers(account_id):
    page = list_page(FOLLOWERS_LIST, account_id, Window(9))
    return {listed.account_id for listed in page.items}


def followers_in_rows(account_id):
    edges = forward_edges().items()
    return {
        one
        for (one, other), edge in edges
        if other == account_id and edge.attribute is Attribute.FOLLOW
    }


@pytest.mark.parametrize("place", ["relations.backfilled", "checkpoint"])
def test_backfill(world, place):
    net = make_network()
    forget_derived_side()
    for person in net:
        assert followers(person) == set()
    kill_at(place, 3, "backfill_backward_edges", "--batch-size", "2")
    assert backward_edges() != forward_edges()
    outcome = Outcome(backfill_backward_edges.Command(), "--resume", "--batch-size", "2")
    assert outcome.code == 0
    assert JobRun.objects.latest("id").done < len(forward_edges()), "it began again"
    assert not JobCheckpoint.objects.exists()
    assert_drained_truth()
    for person in net:
        assert followers(person) == followers_in_rows(person)


@pytest.mark.parametrize("place", ["relations.mirrored_again", "counters.repaired", "checkpoint"])
@pytest.mark.parametrize("words", [["--resume"], []])
def test_repair(world, place, words):
    net = make_network()
    for person in net:
        assert followers(person) == followers_in_rows(person)
    delete_edge("backward", net.ann, net.bob)
    write_backward(net.ann, net.cyd, "revision = 7, attribute = 0")
    write_count(net.dan, CounterKind.FOLLOWERS, 7)
    kill_at(place, 1, "audit_edges", "--repair", "--batch-size", "2")
    drain_all()  # as the compensator does; the change of the repair is pending
    assert Outcome(audit_edges.Command(), "--repair", "--batch-size", "2", *words).code == 0
    drain_all()
    assert Outcome(audit_edges.Command()).code == 0
    assert_drained_truth()
    for person in net:
        assert followers(person) == followers_in_rows(person)


def test_reset(world):
    net = make_network()
    words = ["--account", str(net.ann), "--yes", "--batch-size", "1"]
    kill_at("checkpoint", 3, "reset_relations", *words)
    assert any(net.ann in p and e.attribute for p, e in forward_edges().items())
    outcome = Outcome(reset_relations.Command(), "--resume", *words)
    assert outcome.code == 0
    assert JobRun.objects.latest("id").done == 3
    drain_all()
    assert not any(net.ann in p and e.attribute for p, e in forward_edges().items())
    assert_drained_truth()
