"""backfill_backward_edges: the derived side from the forward edges alone."""

from django.conf import settings

from infra.api.pages import Window
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from relations.actions.follow import follow, unfollow
from relations.jobs.backfill_backward_edges import backfill_backward_edges
from relations.management.commands.backfill_backward_edges import Command
from relations.queries.edge_lists import FOLLOWERS_LIST, list_page
from relations.queries.relationships import load_relationships
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.damage import forget_derived_side, make_network
from tests.races import failures, run_together
from tests.truth import assert_drained_truth, everything_written, forward_edges
from tests.world import drain_all, make_accounts


def test_fills_what_a_migration_left_out(world):
    make_network()
    forget_derived_side()
    edges = len(forward_edges())
    dry = everything_written()
    looked = Outcome(Command(), "--dry-run")
    assert looked.out == f"{edges} forward edges looked at, {edges} would change, 0 failed\n"
    assert everything_written() == dry
    done = Outcome(Command(), "--batch-size", "2")
    assert done.out == f"{edges} forward edges done, {edges} changed, 0 failed\n"
    assert_drained_truth()


def test_second_run_changes_nothing(world):
    make_network()
    forget_derived_side()
    Outcome(Command())
    before = everything_written()
    assert Outcome(Command()).out.endswith(" done, 0 changed, 0 failed\n")
    assert everything_written() == before


def test_older_edge_is_brought_up_and_newer_one_left(world):
    ann, bob, cyd = make_accounts(3)
    follow(ann, bob)
    follow(ann, cyd)
    drain_all()
    unfollow(ann, bob)  # not delivered
    sql = "UPDATE relations_backwardedge SET revision = 9 WHERE followee_id = %s"
    execute(shard_of(cyd), sql, (cyd,))
    assert Outcome(Command(), "--account", str(ann)).out.startswith("2 forward edges done, 1 chan")
    assert [i.account_id for i in list_page(FOLLOWERS_LIST, bob, Window(9)).items] == []
    assert [i.account_id for i in list_page(FOLLOWERS_LIST, cyd, Window(9)).items] == [ann]


def test_what_was_cached_is_right_after_it(world):
    people = make_network()
    forget_derived_side()
    assert list_page(FOLLOWERS_LIST, people.ann, Window(9)).items == []
    assert not load_relationships(people.ann, [people.cyd])[people.cyd].follows_me
    Outcome(Command())
    followers = list_page(FOLLOWERS_LIST, people.ann, Window(9)).items
    assert [listed.account_id for listed in followers] == [people.cyd]
    assert load_relationships(people.ann, [people.cyd])[people.cyd].follows_me


def test_followee_that_does_not_exist_is_named_and_nothing_is_written_for_it(world):
    ann, bob, cyd = make_accounts(3)
    follow(ann, bob)
    follow(ann, cyd)
    forget_derived_side()
    execute(shard_of(bob), "DELETE FROM accounts_account WHERE id = %s", (bob,))
    outcome = Outcome(Command())
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
