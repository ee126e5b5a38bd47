"""reset_relations ends one account's edges in both directions, by the same actions as the API."""

import pytest
from django.core.management import CommandError

from infra.api.pages import Window
from infra.jobs.models import JobRun
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.actions.block import block
from relations.management.commands.reset_relations import Command
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.types import Attribute
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.busy import Busy, drainer, toggler
from tests.integration.relations.jobs.damage import make_network
from tests.truth import assert_drained_truth, everything_written, forward_edges
from tests.world import drain_all


def live_edges_of(account_id):
    return {
        pair: edge.attribute
        for pair, edge in forward_edges().items()
        if account_id in pair and edge.attribute is not Attribute.NONE
    }


def make_hated(net):
    block(net.dan, net.ann)
    drain_all()
    return 6


@pytest.mark.parametrize("words", [["--yes"], ["--yes", "--batch-size", "1"]])
def test_ends_all_of_it_and_nothing_else(world, words):
    net = make_network()
    edges = make_hated(net)
    assert len(live_edges_of(net.ann)) == edges
    others = {p: e for p, e in forward_edges().items() if net.ann not in p}
    for listed in (FOLLOWING_LIST, FOLLOWERS_LIST):
        assert list_page(listed, net.ann, Window(9)).items
    outcome = Outcome(Command(), "--account", str(net.ann), *words)
    assert outcome.code == 0
    assert outcome.out.endswith(f"{edges} edges done, {edges} changed, 0 failed\n")
    assert live_edges_of(net.ann) == {}
    assert {p: e for p, e in forward_edges().items() if net.ann not in p} == others
    drain_all()
    for listed in (FOLLOWING_LIST, FOLLOWERS_LIST):
        assert list_page(listed, net.ann, Window(9)).items == []
    assert_drained_truth()


def test_second_run_finds_nothing_to_do(world):
    net = make_network()
    words = ("--account", str(net.ann), "--yes")
    Outcome(Command(), *words)
    drain_all()
    before = everything_written()
    assert Outcome(Command(), *words).out == "0 edges done, 0 failed\n"
    assert everything_written() == before


def test_dry_run_names_the_edges_and_writes_nothing(world):
    net = make_network()
    before = everything_written()
    outcome = Outcome(Command(), "--account", str(net.ann), "--dry-run")
    assert everything_written() == before
    assert outcome.out.splitlines() == [
        f"edge {net.ann} → {net.bob}: FOLLOW",
        f"edge {net.ann} → {net.cyd}: FOLLOW",
        f"edge {net.ann} → {net.dan}: FOLLOW",
        f"edge {net.ann} → {net.eve}: BLACK",
        f"edge {net.bob} → {net.ann}: WHISPER",
        f"edge {net.cyd} → {net.ann}: FOLLOW",
        "6 edges looked at, 6 would change, 0 failed",
    ]


def test_blocks_of_others_can_be_kept(world):
    net = make_network()
    make_hated(net)
    Outcome(Command(), "--account", str(net.ann), "--yes", "--keep-blocks")
    assert live_edges_of(net.ann) == {(net.dan, net.ann): Attribute.BLACK}


def test_follower_without_an_account_is_left_and_named(world):
    net = make_network()
    execute(shard_of(net.cyd), "DELETE FROM accounts_account WHERE id = %s", (net.cyd,))
    outcome = Outcome(Command(), "--account", str(net.ann), "--yes")
    assert outcome.code == 1
    assert f"edge {net.cyd} → {net.ann}: FOLLOW: account {net.cyd} does not exist" in outcome.out


@pytest.mark.parametrize("words", [[], ["--yes"], ["--dry-run"], ["--account", "7"]])
def test_refused_without_an_account_or_a_yes(world, words):
    with pytest.raises(CommandError):
        Outcome(Command(), *words)
    assert not JobRun.objects.filter(state=JobRun.State.DONE).exists()


def test_beside_writers_it_ends_what_it_found(world, settings):
    settings.FOLLOWS_PER_DAY = 1_000_000
    net = make_network()
    with Busy(toggler(net.bob, net.cyd), toggler(net.eve, net.bob), drainer):
        assert Outcome(Command(), "--account", str(net.ann), "--yes").code == 0
    assert live_edges_of(net.ann) == {}
    drain_all()
    assert_drained_truth()
