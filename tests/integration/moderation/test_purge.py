"""accounts purge and purge deleted-posts: which rows stay, and that every kill is repaired."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.core.management import CommandError
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnUserHandle

from accounts.errors import AccountPurged
from accounts.models import Account, User
from accounts.types import Restriction
from infra.jobs import time_slices
from infra.jobs.models import JobCheckpoint, JobRun
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_one
from moderation import periodic
from moderation.jobs import purge_accounts
from moderation.models import Decision
from moderation.types import DecisionKind
from moderation.verbs import PurgeAccounts, RestoreAccount, SuspendAccount
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.jobs.purge_deleted_posts import TOMBSTONES
from posts.types import Draft, Kind
from posts.verbs import PurgeDeletedPosts
from relations.actions.block import block
from relations.actions.mute import mute
from relations.lists.actions.lists import create_account_list
from relations.suggestions.actions.dismiss import dismiss_suggestion
from tests.callers import Caller
from tests.dying import armed
from tests.integration.jobs.outcomes import Outcome
from tests.integration.notifications.listing import replay_everything
from tests.people import Community, Visitor, decide
from tests.periodic import run_task
from tests.plans import settle
from tests.truth import assert_drained_truth, counts, everything_written, forward_edges, rows_of
from tests.world import drain_all, make_account, publish

LONG_AGO = timedelta(days=31)
FILL = """
INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text, deleted_at)
SELECT mod(n, 97), n, '', false, '', CASE mod(n, 50) WHEN 0 THEN now() - interval '99 days' END
FROM generate_series(1, 20000) AS n
"""
LEFT = (
    "SELECT 1 FROM posts_post WHERE author_id = {0} AND deleted_at IS NULL",
    "SELECT 1 FROM posts_viewermark WHERE owner_id = {0} AND is_on",
    "SELECT 1 FROM relations_muted WHERE owner_id = {0} AND is_on",
    "SELECT 1 FROM lists_accountlist WHERE owner_id = {0}",
    "SELECT 1 FROM relations_accountnote WHERE owner_id = {0}",
    "SELECT 1 FROM filters_filter WHERE owner_id = {0}",
    "SELECT 1 FROM markers_marker WHERE account_id = {0}",
    "SELECT 1 FROM suggestions_dismissedsuggestion WHERE owner_id = {0}",
    "SELECT 1 FROM notifications_notification WHERE owner_id = {0}",
    "SELECT 1 FROM notifications_notificationpermission WHERE owner_id = {0}",
    "SELECT 1 FROM notifications_inbox WHERE owner_id = {0}",
    "SELECT 1 FROM relations_forwardedge WHERE {0} IN (follower_id, followee_id) AND attribute > 0",
)


@pytest.fixture
def community(world: None) -> Community:
    """The moderated account has a row in every table, and the unrelated account blocks it."""
    community = Community()
    block(community.unrelated, community.moderated)
    mute(community.moderated, community.me)
    create_account_list(community.moderated, "Mine")
    dismiss_suggestion(community.moderated, community.me)
    TOTPDevice.objects.create(user_id=community.moderated, name="App")
    WebAuthnUserHandle.objects.create(user_id=community.moderated, handle_hex="ab" * 64)
    read = {"home": {"last_read_id": community.friends.public}}
    moderated = Caller(community.moderated)
    rule = {"title": "x", "context": ["home"]}
    for path, body in (
        ("/api/v1/markers", read),
        ("/api/v2/filters", rule),
        (f"/api/v1/accounts/{community.me}/note", {"comment": "x"}),
    ):
        assert moderated.post(path, body).status_code == 200
    drain_all()
    return community


def suspend_long_ago(account_id: int) -> None:
    """Suspends an account and dates the suspension back."""
    decide(account_id, DecisionKind.SUSPEND)
    drain_all()
    then = datetime.now(UTC) - LONG_AGO
    User.objects.filter(pk=account_id).update(suspended_at=then)
    Account.objects.of(account_id).update(suspended_at=then)


def left_of(account_id: int) -> list[str]:
    return [sql for sql in LEFT if rows_of(sql.format(account_id))]


def assert_purged(community: Community) -> None:
    drain_all()
    assert left_of(community.moderated) == []
    assert {one for (one, _), count in counts().items() if count} == {
        community.me,
        community.friend,
    }
    assert_drained_truth()
    account = Account.objects.of(community.moderated).get()
    assert account.restrictions == Restriction.SUSPENDED | Restriction.PURGED
    user = User.objects.get(pk=community.moderated)
    assert (user.email, user.has_usable_password()) == ("", False)
    assert not TOTPDevice.objects.exists() and not WebAuthnUserHandle.objects.exists()
    assert community.home() == [community.friends.public]


def test_a_purged_account_gets_no_notification_back(community: Community) -> None:
    suspend_long_ago(community.moderated)
    assert Outcome(PurgeAccounts()).code == 0
    replay_everything(GLOBAL_ALIAS)
    assert left_of(community.moderated) == []


def test_a_purged_account_quotes_nothing(community: Community) -> None:
    create_post(community.moderated, Draft("look", quoted=community.friends))
    quoting = create_post(community.friend, Draft("look", quoted=community.theirs))
    drain_all()
    path = f"/api/v1/statuses/{community.friends.public}"
    assert Visitor().caller.get(path).json()["quotes_count"] == 1
    suspend_long_ago(community.moderated)
    assert Outcome(PurgeAccounts()).code == 0
    drain_all()
    assert left_of(community.moderated) == []
    assert Visitor().caller.get(path).json()["quotes_count"] == 0
    path = f"/api/v1/statuses/{quoting.public}"
    assert Visitor().caller.get(path).json()["quote"]["state"] == "deleted"
    assert_drained_truth()


def test_purges_only_accounts_that_were_suspended_long_ago(community: Community) -> None:
    other = make_account()
    kept = publish(other)
    decide(other, DecisionKind.SUSPEND)
    suspend_long_ago(community.moderated)
    outcome = Outcome(PurgeAccounts())
    assert (outcome.code, f"account {community.moderated}\n" in outcome.out) == (0, True)
    drain_all()
    assert left_of(community.moderated) == []
    assert left_of(other) == [LEFT[0], LEFT[8], LEFT[10]], "its post, its warning, its inbox"
    decide(other, DecisionKind.RESTORE)
    assert Visitor().status_of(f"/api/v1/statuses/{kept.public}") == 200
    publish(other)
    assert_drained_truth()


def test_others_follow_by_the_drain(community: Community) -> None:
    suspend_long_ago(community.moderated)
    Outcome(PurgeAccounts())
    assert_purged(community)
    friend = Visitor().caller.get(f"/api/v1/accounts/{community.friend}").json()
    assert (friend["followers_count"], friend["following_count"]) == (1, 0)
    post = Visitor().caller.get(f"/api/v1/statuses/{community.friends.public}").json()
    shown = (post["favourites_count"], post["reblogs_count"], post["replies_count"])
    assert shown == (0, 0, 0)
    assert community.moderated not in {one for pair, edge in forward_edges().items()
                                 if edge.attribute for one in pair}  # fmt: skip


def test_a_second_run_changes_nothing(community: Community) -> None:
    suspend_long_ago(community.moderated)
    Outcome(PurgeAccounts())
    drain_all()
    before = everything_written()
    assert Outcome(PurgeAccounts()).out == "0 rows done, 0 failed\n"
    assert everything_written() == before


def test_a_dry_run_names_what_would_go_and_writes_nothing(community: Community) -> None:
    suspend_long_ago(community.moderated)
    before = everything_written()
    outcome = Outcome(PurgeAccounts(), "--dry-run")
    assert outcome.code == 0
    assert f"posts_post {community.moderated}/{community.theirs.moment}" in outcome.out
    assert f"account {community.moderated}" in outcome.out
    assert everything_written() == before
    assert Decision.objects.filter(kind=DecisionKind.PURGE).count() == 0


@pytest.mark.parametrize("turn", range(1, 8))
def test_killed_and_run_again_it_ends_the_same(community: Community, turn: int) -> None:
    """Stops after `turn` batches of one row. A purge that has begun continues even if the
    suspension is recent, and cannot be undone."""
    suspend_long_ago(community.moderated)
    stopped = Outcome(PurgeAccounts(), "--batch-size", "1", "--limit", str(turn))
    assert stopped.code == 0
    assert left_of(community.moderated)
    with pytest.raises(AccountPurged):
        decide(community.moderated, DecisionKind.RESTORE)
    with pytest.raises(AccountPurged):
        decide(community.moderated, DecisionKind.RESTORE, lifted=Restriction.SUSPENDED)
    now = datetime.now(UTC)
    Account.objects.of(community.moderated).update(suspended_at=now)
    assert Outcome(PurgeAccounts(), "--resume").code == 0
    assert_purged(community)
    assert Decision.objects.filter(kind=DecisionKind.PURGE).count() == 1


def test_killed_before_the_account_ends(community: Community) -> None:
    suspend_long_ago(community.moderated)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with armed("moderation.before_purged", interrupt):
        Outcome(PurgeAccounts())
    assert Outcome(PurgeAccounts()).code == 0
    assert_purged(community)
    assert not JobCheckpoint.objects.exists()


def test_one_account_at_once_when_it_is_confirmed(community: Community) -> None:
    words = ("--account", str(community.moderated))
    with pytest.raises(CommandError, match="not suspended"):
        Outcome(PurgeAccounts(), *words, "--yes")
    decide(community.moderated, DecisionKind.SUSPEND)
    with pytest.raises(CommandError, match="cannot be undone"):
        Outcome(PurgeAccounts(), *words)
    assert left_of(community.moderated)
    assert Outcome(PurgeAccounts(), *words, "--yes").code == 0
    assert_purged(community)


def test_compensator_purges_in_slices(
    community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time slice has time for one batch of one row."""
    suspend_long_ago(community.moderated)
    monkeypatch.setattr(time_slices, "SLICE_S", 0.0)
    one_row = periodic.PURGE._replace(batch_size=1).as_periodic_task()
    alias = shard_of(community.moderated)
    one_row.function(alias)
    assert left_of(community.moderated), "a time slice is short"
    while not Account.objects.of(community.moderated).get().restrictions & Restriction.PURGED:
        one_row.function(alias)
    assert_purged(community)
    runs = JobRun.objects.filter(job="accounts purge")
    taken = runs.count()
    assert taken == sum(run.done for run in runs)
    one_row.function(alias)
    assert runs.count() == taken, "there is nothing left to do"


def test_time_slices_purge_no_account_too_early(community: Community) -> None:
    decide(community.moderated, DecisionKind.SUSPEND)
    before = everything_written()
    for alias in settings.SHARD_ALIASES:
        run_task("accounts purge", [alias])
    assert everything_written() == before


def test_an_account_restored_during_the_run_is_not_purged(
    community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspend_long_ago(community.moderated)
    begin = purge_accounts._begin

    def restore_first(account_id: int, *rest: object) -> bool:
        decide(account_id, DecisionKind.RESTORE)
        return begin(account_id, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(purge_accounts, "_begin", restore_first)
    Outcome(PurgeAccounts())
    drain_all()
    assert community.home() == community.whole_home


def test_commands_suspend_and_restore(community: Community) -> None:
    words = ("--account", str(community.moderated), "--reason", "spam")
    dry = Outcome(SuspendAccount(), *words, "--dry-run")
    assert dry.out.endswith("1 accounts looked at, 1 would change, 0 failed\n")
    assert community.home() == community.whole_home
    assert Outcome(SuspendAccount(), *words).out.endswith("1 accounts done, 1 changed, 0 failed\n")
    assert community.home() == [community.friends.public]
    assert Outcome(SuspendAccount(), *words).out.endswith("1 accounts done, 0 changed, 0 failed\n")
    assert "1 would change" in Outcome(RestoreAccount(), *words, "--dry-run").out
    assert Outcome(RestoreAccount(), *words).code == 0
    assert community.home() == community.whole_home
    assert [one.kind for one in Decision.objects.order_by("id")] == ["suspend", "restore"]
    with pytest.raises(CommandError, match="--reason"):
        Outcome(SuspendAccount(), *words[:2])


def age(account_id: int) -> None:
    sql = "UPDATE posts_post SET deleted_at = now() - interval '31 days' WHERE author_id = %s"
    execute(shard_of(account_id), f"{sql} AND deleted_at IS NOT NULL", (account_id,))


def test_old_tombstones_are_deleted_except_the_newest_and_responded_ones(world: None) -> None:
    ann, bob = make_account(), make_account()
    old, held, live, newest = (publish(ann, clock_s=lambda n=n: 1_767_230_000.0 + n)
                               for n in range(4))  # fmt: skip
    mark_post(bob, held, Kind.FAVOURITE, True)
    drain_all()
    for post in (old, held, newest):
        delete_post(post)
    drain_all()
    assert Outcome(PurgeDeletedPosts()).out == "0 deleted posts done, 0 failed\n"
    age(ann)
    before = everything_written()
    dry = Outcome(PurgeDeletedPosts(), "--dry-run")
    assert dry.out == "3 deleted posts looked at, 1 would change, 0 failed\n"
    assert everything_written() == before
    done = Outcome(PurgeDeletedPosts(), "--batch-size", "1")
    assert done.out == "3 deleted posts done, 1 changed, 0 failed\n"
    moments = {row[0] for row in rows_of("SELECT moment FROM posts_post")}
    assert moments == {held.moment, live.moment, newest.moment}
    path = f"/api/v1/statuses/{held.public}/unfavourite"
    assert Caller(bob).post(path).status_code == 200
    drain_all()
    assert_drained_truth()
    assert publish(ann, clock_s=lambda: 1_767_230_000.0) > newest


def test_old_tombstones_are_purged_in_time_slices_too(world: None) -> None:
    ann = make_account()
    old, newest = (publish(ann, clock_s=lambda n=n: 1_767_230_000.0 + n) for n in range(2))
    for post in (old, newest):
        delete_post(post)
    drain_all()
    age(ann)
    run_task("purge deleted-posts", [shard_of(ann)])
    assert rows_of("SELECT moment FROM posts_post") == [(newest.moment,)]
    [run] = JobRun.objects.filter(job="purge deleted-posts")
    assert (run.state, run.done, run.changed) == (JobRun.State.DONE, 2, 1)


def test_tombstones_are_found_by_their_index(world: None) -> None:
    execute("shard0", FILL)
    settle("shard0", "posts_post")
    params = {"before": datetime.now(UTC), "account": None, "author": 3, "moment": 5, "count": 500}
    plan = fetch_one("shard0", f"EXPLAIN (FORMAT JSON) {TOMBSTONES}", params)
    assert plan is not None
    assert "post_deleted" in str(plan[0])
