"""import follows: follows with their dates, without notifications."""

import pytest
from django.test import override_settings

from counters.jobs.drifting_counts import audit_counters
from infra.jobs.types import Work
from infra.sharding.shards import shard_aliases
from notifications.models import Notification
from relations.actions.block import block
from relations.actions.follow import follow as follow_now
from relations.actions.follow import unfollow
from relations.types import Attribute, EdgeFlag
from relations.verbs import AuditEdges
from tests.callers import Caller
from tests.dying import dying_at
from tests.integration.importing.imports import (
    account,
    everything,
    follow,
    ids_of,
    post,
    run_import,
)
from tests.integration.jobs.outcomes import Outcome
from tests.integration.timelines.homes import first_page
from tests.truth import backward_edges, forward_edges
from tests.world import drain_all, publish

NAMES = ("ann", "bob", "cyd", "dan")
MAY_2020_MS = 1_588_291_200_000


@pytest.fixture
def four(world, tmp_path):
    assert run_import("accounts", tmp_path, map(account, NAMES)).code == 0
    return ids_of(*NAMES)


def audits_agree():
    assert Outcome(AuditEdges()).code == 0
    drift = [batch for batch in audit_counters(Work(shard_aliases())) if batch.failed]
    assert drift == []


def test_both_sides_have_the_follow_with_its_date_and_nobody_is_notified(four, tmp_path):
    ann, bob, cyd, _ = four
    outcome = run_import("follows", tmp_path, [follow("ann", "bob"), follow("cyd", "bob")])
    assert (outcome.code, outcome.out) == (0, "2 lines done, 2 changed, 0 failed\n")
    edge = forward_edges()[ann, bob]
    assert (edge.attribute, edge.since_ms) == (Attribute.FOLLOW, MAY_2020_MS)
    assert forward_edges() == backward_edges()
    entity = Caller(ann).get(f"/api/v1/accounts/{bob}").json()
    assert (entity["followers_count"], entity["following_count"]) == (2, 0)
    listed = Caller(bob).get(f"/api/v1/accounts/{bob}/followers").json()
    assert {one["id"] for one in listed} == {str(ann), str(cyd)}
    assert all(not Notification.objects.on(alias).exists() for alias in shard_aliases())
    audits_agree()


def test_the_same_file_again_changes_nothing(four, tmp_path):
    lines = [follow("ann", "bob"), follow("bob", "ann", None), follow("ann", "cyd", quiet=True)]
    run_import("follows", tmp_path, lines)
    before = everything()
    assert run_import("follows", tmp_path, lines).out == "3 lines done, 0 changed, 0 failed\n"
    assert everything() == before


def test_options_are_kept(four, tmp_path):
    ann, bob, cyd, _ = four
    lines = [follow("ann", "bob", quiet=True), follow("ann", "cyd", notify=True, reposts=False)]
    run_import("follows", tmp_path, lines)
    edges = backward_edges()
    assert edges[ann, bob].attribute == Attribute.WHISPER
    assert edges[ann, cyd].flags == EdgeFlag.NOTIFIES | EdgeFlag.HIDES_REPOSTS
    audits_agree()


def test_what_ended_here_stays_ended_unless_it_began_again_there(four, tmp_path):
    ann, bob, cyd, _ = four
    lines = [follow("ann", "bob"), follow("ann", "cyd", None)]
    run_import("follows", tmp_path, lines)
    unfollow(ann, bob)
    unfollow(ann, cyd)
    assert run_import("follows", tmp_path, lines).out == "2 lines done, 0 changed, 0 failed\n"
    again = follow("ann", "bob", "2021-01-01T00:00:00Z")
    assert run_import("follows", tmp_path, [again]).out == "1 lines done, 1 changed, 0 failed\n"
    drain_all()
    assert forward_edges()[ann, bob].is_follow
    audits_agree()


def test_a_feed_of_follows_and_ends_may_be_replayed_from_the_start(four, tmp_path):
    ann, bob, *_ = four
    feed = [
        follow("ann", "bob", "2020-01-01T00:00:00Z"),
        follow("ann", "bob", "2020-02-01T00:00:00Z", ended=True),
        follow("ann", "bob", "2020-03-01T00:00:00Z"),
    ]
    for some in (feed[:2], feed[:2], feed, feed, feed[:2]):
        run_import("follows", tmp_path, some)
        drain_all()
    assert forward_edges()[ann, bob].is_follow
    run_import("follows", tmp_path, [follow("ann", "bob", "2020-04-01T00:00:00Z", ended=True)])
    drain_all()
    run_import("follows", tmp_path, feed)
    assert not forward_edges()[ann, bob].is_follow
    audits_agree()


def test_blocks_win_and_say_so(four, tmp_path):
    ann, bob, cyd, dan = four
    block(bob, ann)
    block(cyd, dan)
    drain_all()
    lines = [follow("ann", "bob"), follow("cyd", "dan"), follow("dan", "dan"), follow("no", "dan")]
    outcome = run_import(
        "follows", tmp_path, [*lines, follow("ann", "dan", "2999-01-01T00:00:00Z")]
    )
    assert outcome.code == 1
    assert outcome.out.splitlines() == [
        "line 1: the followee blocks the follower",
        "line 2: the follower blocks the followee",
        "line 3: an account cannot follow itself",
        "line 4: there is no account 'u-no': import accounts first",
        "line 5: since is in the future",
        "0 lines done, 0 changed, 5 failed",
    ]
    audits_agree()


def test_a_request_becomes_the_follow_that_it_is_there(world, tmp_path):
    run_import("accounts", tmp_path, [account("ann"), account("bob", locked=True)])
    ann, bob = ids_of("ann", "bob")
    follow_now(ann, bob)
    drain_all()
    assert forward_edges()[ann, bob].is_request
    run_import("follows", tmp_path, [follow("ann", "bob")])
    assert forward_edges()[ann, bob].is_follow
    assert backward_edges() == forward_edges()
    audits_agree()


def test_the_cap_is_exact(four, tmp_path):
    with override_settings(FOLLOW_CAP=2):
        lines = [follow("ann", name) for name in ("bob", "cyd", "dan")]
        outcome = run_import("follows", tmp_path, lines)
    assert outcome.out.endswith("2 lines done, 2 changed, 1 failed\n")
    assert "FOLLOW_CAP" in outcome.out
    audits_agree()


def test_a_cached_list_and_home_show_the_new_follow(four, tmp_path):
    ann, bob, *_ = four
    shown = publish(bob)
    drain_all()
    assert first_page(ann) == []
    reader = Caller(ann)
    assert reader.get(f"/api/v1/accounts/{ann}/following").json() == []
    assert reader.get(f"/api/v1/accounts/relationships?id={bob}").json()[0]["following"] is False
    run_import("follows", tmp_path, [follow("ann", "bob")])
    assert first_page(ann) == [shown.public]
    [listed] = reader.get(f"/api/v1/accounts/{ann}/following").json()
    assert listed["id"] == str(bob)
    assert reader.get(f"/api/v1/accounts/relationships?id={bob}").json()[0]["following"] is True


@pytest.mark.parametrize(
    "place", ["relations.follows_imported", "relations.imported_mirrored", "drain.before_filing"]
)
def test_killed_anywhere_the_drain_and_a_second_run_do_the_rest(four, tmp_path, place):
    lines = [follow(a, b) for a in NAMES for b in NAMES if a != b]
    with dying_at(place):
        run_import("follows", tmp_path, lines)
    drain_all()
    assert run_import("follows", tmp_path, lines).code == 0
    assert len(forward_edges()) == 12
    assert forward_edges() == backward_edges()
    audits_agree()


def test_a_dry_run_says_what_the_run_says_and_writes_nothing(four, tmp_path):
    ann, bob, *_ = four
    block(bob, ann)
    drain_all()
    lines = [follow("ann", "bob"), follow("bob", "cyd"), follow("cyd", "ann", ended=True)]
    before = everything()
    dry = run_import("follows", tmp_path, lines, "--dry-run")
    assert everything() == before
    real = run_import("follows", tmp_path, lines)
    assert dry.out.splitlines()[:-1] == real.out.splitlines()[:-1]
    assert dry.out.endswith("2 lines looked at, 1 would change, 1 failed\n")
    assert real.out.endswith("2 lines done, 1 changed, 1 failed\n")


def test_one_file_may_have_all_types(world, tmp_path):
    data = {"account": account("ann"), "follow": follow("ann", "bob"), "post": post(1, "ann")}
    lines = [{"type": kind, "data": one} for kind, one in data.items()]
    lines.append({"type": "account", "data": account("bob")})
    for kind, changed in (("accounts", 2), ("follows", 1), ("posts", 1)):
        outcome = run_import(kind, tmp_path, lines)
        assert outcome.out == f"4 lines done, {changed} changed, 0 failed\n"
