"""accounts reset-relations ends all edges of one account, by the same actions as the API.

backfill backward-edges: the derived side from the forward edges alone.

`--help` of the commands on relations says what they do and which flags they take.
"""

import pytest
from django.conf import settings
from django.core.management import CommandError

from infra.api.pages import Window
from infra.jobs.flags import JobFlag
from infra.jobs.models import JobRun
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.jobs.backfill_backward_edges import backfill_backward_edges
from relations.queries.edge_lists import FOLLOWERS_LIST, FOLLOWING_LIST, list_page
from relations.queries.relationships import load_relationships
from relations.types import Attribute
from relations.verbs import AuditEdges, BackfillBackwardEdges, RebuildRelationCaches, ResetRelations
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.busy import Busy, drainer, toggler
from tests.integration.relations.jobs.damage import forget_derived_side, make_network
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, everything_written, forward_edges
from tests.world import drain_all, make_accounts


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
    outcome = Outcome(ResetRelations(), "--account", str(net.ann), *words)
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
    Outcome(ResetRelations(), *words)
    drain_all()
    before = everything_written()
    assert Outcome(ResetRelations(), *words).out == "0 edges done, 0 failed\n"
    assert everything_written() == before


def test_dry_run_names_the_edges_and_writes_nothing(world):
    net = make_network()
    before = everything_written()
    outcome = Outcome(ResetRelations(), "--account", str(net.ann), "--dry-run")
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
    Outcome(ResetRelations(), "--account", str(net.ann), "--yes", "--keep-blocks")
    assert live_edges_of(net.ann) == {(net.dan, net.ann): Attribute.BLACK}


def test_follower_without_an_account_is_left_and_named(world):
    net = make_network()
    execute(shard_of(net.cyd), "DELETE FROM accounts_account WHERE id = %s", (net.cyd,))
    outcome = Outcome(ResetRelations(), "--account", str(net.ann), "--yes")
    assert outcome.code == 1
    assert f"edge {net.cyd} → {net.ann}: FOLLOW: account {net.cyd} does not exist" in outcome.out


@pytest.mark.parametrize("words", [[], ["--yes"], ["--dry-run"], ["--account", "7"]])
def test_refused_without_an_account_or_a_yes(world, words):
    with pytest.raises(CommandError):
        Outcome(ResetRelations(), *words)
    assert not JobRun.objects.filter(state=JobRun.State.DONE).exists()


def test_beside_writers_it_ends_what_it_found(world, settings):
    settings.FOLLOWS_PER_DAY = 1_000_000
    net = make_network()
    with Busy(toggler(net.bob, net.cyd), toggler(net.eve, net.bob), drainer):
        assert Outcome(ResetRelations(), "--account", str(net.ann), "--yes").code == 0
    assert live_edges_of(net.ann) == {}
    drain_all()
    assert_drained_truth()


def test_fills_what_a_migration_left_out(world):
    make_network()
    forget_derived_side()
    edges = len(forward_edges())
    dry = everything_written()
    looked = Outcome(BackfillBackwardEdges(), "--dry-run")
    assert looked.out == f"{edges} forward edges looked at, {edges} would change, 0 failed\n"
    assert everything_written() == dry
    done = Outcome(BackfillBackwardEdges(), "--batch-size", "2")
    assert done.out == f"{edges} forward edges done, {edges} changed, 0 failed\n"
    assert_drained_truth()


def test_second_run_changes_nothing(world):
    make_network()
    forget_derived_side()
    Outcome(BackfillBackwardEdges())
    before = everything_written()
    assert Outcome(BackfillBackwardEdges()).out.endswith(" done, 0 changed, 0 failed\n")
    assert everything_written() == before


def test_older_edge_is_brought_up_and_newer_one_left(world):
    ann, bob, cyd = make_accounts(3)
    follow(ann, bob)
    follow(ann, cyd)
    drain_all()
    unfollow(ann, bob)  # not delivered
    sql = "UPDATE relations_backwardedge SET revision = 9 WHERE followee_id = %s"
    execute(shard_of(cyd), sql, (cyd,))
    assert Outcome(BackfillBackwardEdges(), "--account", str(ann)).out.startswith(
        "2 forward edges done, 1 chan"
    )
    assert [i.account_id for i in list_page(FOLLOWERS_LIST, bob, Window(9)).items] == []
    assert [i.account_id for i in list_page(FOLLOWERS_LIST, cyd, Window(9)).items] == [ann]


def test_what_was_cached_is_right_after_it(world):
    people = make_network()
    forget_derived_side()
    assert list_page(FOLLOWERS_LIST, people.ann, Window(9)).items == []
    assert not load_relationships(people.ann, [people.cyd])[people.cyd].follows_me
    Outcome(BackfillBackwardEdges())
    followers = list_page(FOLLOWERS_LIST, people.ann, Window(9)).items
    assert [listed.account_id for listed in followers] == [people.cyd]
    assert load_relationships(people.ann, [people.cyd])[people.cyd].follows_me


def test_followee_that_does_not_exist_is_named_and_nothing_is_written_for_it(world):
    ann, bob, cyd = make_accounts(3)
    follow(ann, bob)
    follow(ann, cyd)
    forget_derived_side()
    execute(shard_of(bob), "DELETE FROM accounts_account WHERE id = %s", (bob,))
    outcome = Outcome(BackfillBackwardEdges())
    assert outcome.code == 1
    assert outcome.out.splitlines() == [
        f"edge {ann} → {bob}: account {bob} does not exist",
        "1 forward edges done, 1 changed, 1 failed",
    ]


def test_beside_writers_and_drains_it_ends_right(world):
    people = make_accounts(12)
    for follower in people:
        for followee in people:
            if follower < followee:
                follow(follower, followee)
    drain_all()
    forget_derived_side()
    writers = [lambda p=p: toggle(p, people) for p in people[:4]]
    answers = run_together([*writers, fill, fill, drain_all])
    assert failures(answers) == []
    drain_all()
    fill()
    assert_drained_truth()


def toggle(person, people):
    for other in people:
        if other != person:
            unfollow(person, other)
            follow(person, other)


def fill():
    list(backfill_backward_edges(Work(settings.SHARD_ALIASES, batch_size=7)))


SHARED = {f"--{flag.value.replace('_', '-')}" for flag in JobFlag} | {"--json"}
OWN = {
    AuditEdges: {"--repair"},
    BackfillBackwardEdges: set(),
    RebuildRelationCaches: set(),
    ResetRelations: {"--yes", "--keep-blocks"},
}


@pytest.mark.parametrize("job", OWN, ids=lambda job: job.name)
def test_help_names_purpose_and_flags(job):
    command = job()
    text = command.create_parser("manage.py", job.name).format_help()
    shared = SHARED - {"--shard"} if job is ResetRelations else SHARED
    assert all(flag in text for flag in shared | OWN[job])
    assert " ".join(command.help.split()[:5]) in " ".join(text.split())
