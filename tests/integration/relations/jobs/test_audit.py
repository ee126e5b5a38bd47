"""audit edges finds each kind of difference, names it, and repairs it once."""

import pytest
from django.conf import settings

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from counters.jobs.drifting_counts import recount_counters
from counters.kinds import CounterKind
from infra.changes.models import Change, ChangeState
from infra.jobs.types import Work
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.jobs import audit_counts
from relations.types import Attribute, EdgeFlag
from relations.verbs import AuditEdges
from tests.integration.jobs.outcomes import Outcome
from tests.integration.relations.jobs.damage import (
    delete_edge,
    make_network,
    write_backward,
    write_count,
)
from tests.truth import (
    assert_drained_truth,
    backward_edges,
    everything_written,
    forward_edges,
)
from tests.world import drain_all


def lose_backward(net):
    delete_edge("backward", net.ann, net.bob)
    write_count(net.bob, CounterKind.FOLLOWERS, 1)
    return f"edge {net.ann} → {net.bob}: backward edge is missing"


def age_backward(net):
    write_backward(net.dan, net.ann, "revision = 1, attribute = 1")
    write_count(net.ann, CounterKind.FOLLOWERS, 3)
    return f"edge {net.dan} → {net.ann}: backward edge is older"


def falsify_backward(net):
    write_backward(net.cyd, net.ann, "flags = 1")
    return f"edge {net.cyd} → {net.ann}: backward edge has the same revision and another content"


def advance_backward(net):
    """The follower's shard was restored to a moment before this."""
    write_backward(net.ann, net.cyd, "revision = 7, attribute = 0")
    write_count(net.cyd, CounterKind.FOLLOWERS, 0)
    return f"edge {net.ann} → {net.cyd}: backward edge is ahead, an end was lost"


def invent_backward(net):
    sql = "INSERT INTO relations_backwardedge VALUES (%s, %s, 1, 4, 5, 0)"
    columns = "(followee_id, follower_id, attribute, revision, since_ms, flags)"
    execute(shard_of(net.cyd), sql.replace(" VALUES", columns + " VALUES"), (net.cyd, net.eve))
    write_count(net.cyd, CounterKind.FOLLOWERS, 2)
    return f"edge {net.eve} → {net.cyd}: there is no forward edge, a follow was lost"


def lose_block(net):
    """Loses the mirrored block, and the follow that it ended is live again."""
    delete_edge("backward", net.ann, net.eve)
    return f"edge {net.ann} → {net.eve}: backward edge is missing"


def miscount(net):
    write_count(net.ann, CounterKind.FOLLOWING, 5)
    write_count(net.ann, CounterKind.QUIET_FOLLOWERS, 0)
    return f"account {net.ann}: following is 5, rows 3, quiet_followers is 0, rows 1"


DAMAGES = [
    lose_backward,
    age_backward,
    falsify_backward,
    advance_backward,
    invent_backward,
    lose_block,
    miscount,
]


def audit(*words):
    return Outcome(AuditEdges(), *words)


def test_whole_network_is_in_order(world):
    make_network()
    outcome = audit()
    assert outcome.code == 0
    rows = 5 + len(forward_edges()) + len(backward_edges())
    assert outcome.out == f"{rows} rows done, 0 failed\n"


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_difference_is_found_named_and_repaired(world, damage):
    net = make_network()
    follows = {pair: edge.attribute for pair, edge in forward_edges().items()}
    line = damage(net)
    damaged = everything_written()
    words = ("--batch-size", "1", "--restored-wins")
    found = audit(*words)
    assert (found.code, found.out.splitlines()[:-1]) == (1, [line])
    assert found.out.endswith(" 1 failed\n")
    would = audit("--repair", "--dry-run", *words)
    assert would.out.endswith("1 would change, 1 failed\n")
    assert everything_written() == damaged, "nothing is written without --repair"
    repaired = audit("--repair", *words)
    assert (repaired.code, repaired.out.splitlines()[:-1]) == (0, [f"{line}: repaired"])
    assert repaired.out.endswith(" 1 changed, 0 failed\n")
    drain_all()
    assert_drained_truth()
    now = {p: e.attribute for p, e in forward_edges().items() if e.attribute or p in follows}
    assert now == follows, "the truth says what it said"
    assert audit().code == 0
    assert audit("--repair").out.endswith(" 0 changed, 0 failed\n")


LOST_WRITES = {
    "a follow": (1, "NOTHING"),
    "a quiet follow": (2, "SPECIAL"),
    "a block": (3, "NOTHING"),
    "a request": (4, "NOTIFIES"),
}


@pytest.mark.parametrize("word", LOST_WRITES)
def test_write_that_a_restored_shard_lost_is_written_again(world, word):
    """As the other side has it. The first one who wrote was cyd: its shard has no row."""
    net = make_network()
    attribute, flag = LOST_WRITES[word]
    pair = (net.cyd, net.bob)
    update_profile(net.bob, ProfileEdit(is_locked=attribute == 4))  # else it approves requests
    drain_all()
    follow(*pair)
    drain_all()
    facts = f"revision = 9, attribute = {attribute}, since_ms = 77, flags = {EdgeFlag[flag]:d}"
    write_backward(*pair, facts)
    delete_edge("forward", *pair)
    recount(Work(settings.SHARD_ALIASES))
    line = f"edge {net.cyd} → {net.bob}: there is no forward edge, {word} was lost"
    assert audit().out.splitlines()[:-1] == [line]
    assert audit("--repair").code == 0
    drain_all()
    found = forward_edges()[pair]
    assert (found.attribute, found.since_ms, found.flags) == (attribute, 77, EdgeFlag[flag])
    assert audit().code == 0
    assert_drained_truth()


def test_lost_block_is_kept_whatever_wins(world):
    net = make_network()
    block(net.cyd, net.bob)
    drain_all()
    delete_edge("forward", net.cyd, net.bob)
    recount(Work(settings.SHARD_ALIASES))
    assert audit("--repair", "--restored-wins").code == 0
    drain_all()
    assert forward_edges()[net.cyd, net.bob].attribute is Attribute.BLACK
    assert backward_edges()[net.cyd, net.bob].attribute is Attribute.BLACK
    assert audit().code == 0


def test_lost_follow_of_an_account_that_blocks_by_now_ends(world):
    net = make_network()
    follow(net.cyd, net.bob)
    drain_all()
    delete_edge("forward", net.cyd, net.bob)
    recount(Work(settings.SHARD_ALIASES))
    block(net.bob, net.cyd)
    drain_all()
    write_backward(net.cyd, net.bob, "revision = 9, attribute = 1")
    assert audit("--repair").code == 0
    drain_all()
    assert forward_edges()[net.cyd, net.bob].attribute is Attribute.NONE
    assert audit().code == 0


def recount(work):
    """The counts of a restored shard are those of its rows."""
    for _ in recount_counters(work):
        pass


def test_all_at_once(world):
    net = make_network()
    lose_backward(net)
    advance_backward(net)
    lose_block(net)
    miscount(net)
    assert audit("--repair").code == 0
    drain_all()
    assert audit().code == 0
    assert_drained_truth()


def test_follow_of_who_blocks_is_ended(world):
    net = make_network()
    follow(net.bob, net.dan)
    drain_all()
    sql = "UPDATE {} SET attribute = 3, flags = 0 WHERE follower_id = %s AND followee_id = %s"
    follow(net.dan, net.bob)
    drain_all()
    for side, owner in (("forward", net.dan), ("backward", net.bob)):
        execute(shard_of(owner), sql.format(f"relations_{side}edge"), (net.dan, net.bob))
    line = f"edge {net.bob} → {net.dan}: follows, and {net.dan} blocks it"
    assert line in audit().out.splitlines()
    assert f"{line}: repaired" in audit("--repair").out.splitlines()
    drain_all()
    assert not forward_edges()[net.bob, net.dan].is_follow
    assert audit().code == 0
    assert_drained_truth()


def test_backward_edge_of_an_account_that_does_not_exist_is_ended(world):
    """Its shard was restored to a moment before it signed up."""
    net = make_network()
    alias = shard_of(net.eve)
    execute(alias, "DELETE FROM relations_forwardedge WHERE follower_id = %s", (net.eve,))
    for table, column in (("counters_counter", "owner_id"), ("accounts_account", "id")):
        execute(alias, f"DELETE FROM {table} WHERE {column} = %s", (net.eve,))
    execute(alias, "DELETE FROM relations_backwardedge WHERE followee_id = %s", (net.eve,))
    repaired = audit("--repair")
    gone = f"account {net.eve} does not exist"
    assert f"edge {net.eve} → {net.bob}: {gone}: repaired" in repaired.out.splitlines()
    # ann blocks somebody who is gone: that is ann's own edge, the truth.
    assert f"edge {net.ann} → {net.eve}: {gone}" in repaired.out.splitlines()
    assert repaired.code == 1
    again = audit("--repair")
    assert again.out.splitlines()[:-1] == [f"edge {net.ann} → {net.eve}: {gone}"]


def test_pending_change_is_waited_for_and_delivered_meanwhile(world, monkeypatch):
    net = make_network()
    unfollow(net.ann, net.bob)
    pauses = []

    def pause(self, seconds):
        pauses.append(seconds)
        drain_all()
        return True

    monkeypatch.setattr(AuditEdges, "pause", pause)
    assert audit().code == 0
    assert len(pauses) == 1


def test_change_that_stays_pending_is_said_so_and_left_to_the_drain(world, monkeypatch):
    net = make_network()
    unfollow(net.ann, net.bob)
    monkeypatch.setattr(AuditEdges, "pause", lambda self, seconds: True)
    before = everything_written()
    outcome = audit("--repair")
    assert outcome.code == 1
    line = f"edge {net.ann} → {net.bob}: its change is still pending; see changes lag"
    assert outcome.out.splitlines()[:-1] == [line]
    assert everything_written() == before
    drain_all()
    assert audit().code == 0


def test_parked_change_is_a_difference(world):
    net = make_network()
    unfollow(net.ann, net.bob)
    Change.objects.on(shard_of(net.ann)).update(state=ChangeState.PARKED)
    line = f"edge {net.ann} → {net.bob}: backward edge is older"
    assert audit().out.splitlines()[:-1] == [line]
    assert audit("--repair").code == 0
    assert not backward_edges()[net.ann, net.bob].is_follow


def test_one_account_is_audited_by_the_rows_it_owns(world):
    net = make_network()
    line = lose_backward(net)
    assert audit("--account", str(net.cyd)).code == 0
    assert audit("--account", str(net.ann)).out.splitlines()[:-1] == [line]
    assert audit("--account", str(net.bob)).out == "3 rows done, 0 failed\n"


def test_counting_goes_page_by_page(world, monkeypatch):
    make_network()
    monkeypatch.setattr(audit_counts, "ROWS_A_PAGE", 1)
    assert audit().code == 0


def test_lines_are_bounded(world, monkeypatch):
    net = make_network()
    monkeypatch.setattr("infra.jobs.command.MOST_LINES", 2)
    for follower in (net.bob, net.cyd):
        write_backward(follower, net.ann, "since_ms = 1")
    write_backward(net.ann, net.bob, "since_ms = 1")
    lines = audit().out.splitlines()
    assert len(lines) == 4
    assert lines[2].startswith("… and more")
    assert lines[3].endswith(" 3 failed")


def test_resumed_audit_goes_on_in_the_pass_where_it_was(world):
    net = make_network()
    lose_backward(net)
    seen = 0
    codes = []
    rows = 5 + len(forward_edges()) + len(backward_edges())
    while seen < rows:
        outcome = audit("--limit", "3", "--resume")
        codes.append(outcome.code)
        done, failed = (int(w) for w in outcome.out.splitlines()[-1].split() if w.isdigit())
        seen += done + failed
    assert codes.count(1) == 1
    assert seen == rows
    assert fetch_one("default", "SELECT count(*) FROM jobs_jobcheckpoint")[0] <= 1
