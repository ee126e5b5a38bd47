"""What an import brought notifies of nothing, later neither: audits and back-fills know it."""

import pytest

from infra import clock
from infra.sharding.shards import shard_aliases
from notifications.models import Inbox, Notification
from notifications.verbs import BackfillNotifications
from posts.actions.declare_reaction import declare_reaction
from posts.queries.reactions import known_reactions
from relations.actions.follow import follow as follow_now
from tests.callers import Caller
from tests.integration.importing.imports import account, follow, ids_of, post, post_id, run_import
from tests.integration.importing.test_import_posts import ago
from tests.integration.jobs.lost_rows import at_rest
from tests.integration.jobs.outcomes import Outcome
from tests.integration.notifications.listing import replay_everything, told
from tests.integration.posts.interacting import do
from tests.reconciling import assert_audits_find_nothing
from tests.world import drain_all

__all__ = ["at_rest"]
LONG_AGO, LATELY = 7_200, 60


@pytest.fixture
def three(world, tmp_path):
    known_reactions.forget()
    declare_reaction("clap", {"en": "clap"}, at_ms=0)
    run_import("accounts", tmp_path, map(account, ("ann", "bob", "cyd")))
    run_import("posts", tmp_path, [post(1, "bob", ago(2 * LONG_AGO))])
    drain_all()
    return ids_of("ann", "bob", "cyd")


def reaction(name, **more):
    return {"account": "u-ann", "post": "p-1", "reaction": name, **more}


BROUGHT = {
    "follow": ("follows", lambda: follow("ann", "bob", ago(LONG_AGO))),
    "follow of an unknown date": ("follows", lambda: follow("ann", "bob", None)),
    "answer": ("posts", lambda: post(2, "ann", ago(LONG_AGO), in_reply_to="p-1")),
    "repost": ("posts", lambda: {**post(2, "ann", ago(LONG_AGO), repost_of="p-1"), "text": ""}),
    "favourite": ("reactions", lambda: reaction("favourite", at=ago(LONG_AGO))),
    "favourite of an unknown date": ("reactions", lambda: reaction("favourite")),
    "reaction": ("reactions", lambda: reaction("clap", at=ago(LONG_AGO))),
}


@pytest.mark.parametrize("name", BROUGHT)
def test_history_notifies_of_nothing_and_no_job_adds_it(three, tmp_path, at_rest, name):
    kind, line = BROUGHT[name]
    assert run_import(kind, tmp_path, [line()]).out == "1 lines done, 1 changed, 0 failed\n"
    drain_all()
    assert_audits_find_nothing()
    assert Outcome(BackfillNotifications()).code == 0
    replay_everything()
    assert all(not Notification.objects.on(alias).exists() for alias in shard_aliases())


def test_what_happens_later_notifies_and_is_repaired(three, tmp_path, at_rest):
    _, bob, cyd = three
    run_import("reactions", tmp_path, [reaction("favourite", at=ago(LONG_AGO))])
    drain_all()
    do(Caller(cyd), "favourite", post_id(1).public)
    follow_now(cyd, bob)
    drain_all()
    assert sorted(line[0] for line in told(Caller(bob))) == ["favourite", "follow"]
    for alias in shard_aliases():
        Notification.objects.on(alias).all().delete()
    assert Outcome(BackfillNotifications()).code == 0
    assert sorted(line[0] for line in told(Caller(bob))) == ["favourite", "follow"]


def test_a_favourite_of_the_last_hour_and_one_that_is_given_again_notify(three, tmp_path):
    _, bob, _ = three
    line = reaction("favourite", at=ago(LATELY))
    run_import("reactions", tmp_path, [line])
    drain_all()
    assert [line[0] for line in told(Caller(bob))] == ["favourite"]
    run_import("reactions", tmp_path, [{**line, "account": "u-cyd", "at": ago(LONG_AGO)}])
    drain_all()
    assert len(told(Caller(bob))) == 1
    again = Caller(ids_of("cyd")[0])
    for act in ("unfavourite", "favourite"):
        do(again, act, post_id(1).public)
    drain_all()
    assert [line[0] for line in told(Caller(bob))] == ["favourite", "favourite"]


def test_an_older_import_leaves_what_is_noted(three, tmp_path):
    for seconds in (LONG_AGO, 2 * LONG_AGO):
        name = "favourite" if seconds == LONG_AGO else "clap"
        run_import("reactions", tmp_path, [reaction(name, at=ago(seconds))])
        drain_all()
    [noted] = [i.imported_ms for a in shard_aliases() for i in Inbox.objects.on(a) if i.imported_ms]
    assert abs(clock.now_ms() - LONG_AGO * 1_000 - noted) < 60_000
