"""A suspended account is invisible from the next read on, and visible again when restored."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from pytest_django import Settings

from accounts.actions.sign_up import sign_up
from accounts.queries.viewers import find_viewer
from accounts.types import NewUser
from infra.caching.client import redis
from infra.caching.remembered import forget_answers
from infra.changes.failpoints import arm, disarm
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from moderation.types import DecisionKind
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, is_disabled, token_of
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.people import Community, Visitor, decide
from tests.truth import assert_drained_truth, counts
from tests.world import drain_all, find_live, make_account, publish
from timelines.hot.queries.hot_authors import list_hot_authors


def by_push(community: Community) -> None:
    assert community.home() == community.whole_home
    assert find_live(community.me) is not None


def by_pull(community: Community) -> None:
    """No live timeline, no index: from the posts tables."""
    redis().call("FLUSHDB")


def by_index(community: Community) -> None:
    call_command("backfill", "recent-posts", verbosity=0)
    redis().call("FLUSHDB")


@pytest.mark.parametrize("way", [by_push, by_pull, by_index])
def test_home_has_nothing_of_them_and_everything_again(
    community: Community, way: Callable[[Community], None]
) -> None:
    way(community)
    decide(community.moderated, DecisionKind.SUSPEND)
    assert community.home() == [community.friends.public]
    assert read_to_end(community.me) == read_from_bottom(community.me) == [community.friends.public]
    decide(community.moderated, DecisionKind.RESTORE)
    assert community.home() == community.whole_home


def test_home_has_nothing_of_a_hot_author(world: None, settings: Settings) -> None:
    settings.INLINE_FOLLOWERS, settings.HOT_FOLLOWERS, settings.CHUNK_FOLLOWERS = 1, 2, 1
    community = Community()
    follow(community.unrelated, community.moderated)
    publish(community.moderated)
    drain_all()
    assert community.moderated in list_hot_authors(shard_of(community.moderated))
    late = publish(community.moderated)
    drain_all()
    assert community.home()[0] == late.public
    decide(community.moderated, DecisionKind.SUSPEND)
    assert community.home() == [community.friends.public]
    decide(community.moderated, DecisionKind.RESTORE)
    assert community.home()[0] == late.public


def rebuild(community: Community) -> None:
    call_command("rebuild", "timelines", "--all", verbosity=0)


def vacuum(community: Community) -> None:
    call_command("audit", "timelines", "--repair", verbosity=0)


def replay(community: Community) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    call_command("changes", "replay", "--since", long_ago, verbosity=0)


def flush(community: Community) -> None:
    redis().call("FLUSHDB")


def restart(community: Community) -> None:
    """A web process starts with empty memory."""
    forget_answers()


def backfill(community: Community) -> None:
    call_command("backfill", "recent-posts", verbosity=0)


@pytest.mark.parametrize("what", [rebuild, vacuum, replay, flush, restart, backfill])
def test_it_stays_invisible_after_maintenance(
    community: Community, what: Callable[[Community], None]
) -> None:
    assert community.home() == community.whole_home
    decide(community.moderated, DecisionKind.SUSPEND)
    drain_all()
    what(community)
    assert community.home() == [community.friends.public]
    assert Visitor(community.me).status_of(f"/api/v1/accounts/{community.moderated}") == 404
    drain_all()
    assert community.home() == [community.friends.public]
    decide(community.moderated, DecisionKind.RESTORE)
    what(community)
    assert community.home() == community.whole_home


def test_suspended_and_restored_within_one_drain(community: Community) -> None:
    """A change may be old; the consumer reads the current row."""
    decide(community.moderated, DecisionKind.SUSPEND)
    decide(community.moderated, DecisionKind.RESTORE)
    decide(community.moderated, DecisionKind.SUSPEND)
    drain_all()
    replay(community)
    assert community.home() == [community.friends.public]


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_nowhere_else_either(community: Community, is_signed_in: bool) -> None:
    visitor = Visitor(community.me if is_signed_in else None)
    person, post = (
        f"/api/v1/accounts/{community.moderated}",
        f"/api/v1/statuses/{community.theirs.public}",
    )
    friends = f"/api/v1/statuses/{community.friends.public}"
    missing = [person, f"{person}/statuses", f"{person}/followers", post, f"{post}/context"]
    lists = {
        f"/api/v1/accounts/{community.friend}/followers": str(community.moderated),
        f"/api/v1/accounts/{community.friend}/following": str(community.moderated),
        f"/api/v1/accounts/{community.friend}/statuses": community.repost_of_theirs.public,
        f"{friends}/favourited_by": str(community.moderated),
        f"{friends}/reblogged_by": str(community.moderated),
        "/api/v1/timelines/public": community.theirs.public,
        f"/api/v1/accounts?id[]={community.moderated}": str(community.moderated),
    }
    assert all(visitor.status_of(path) == 200 for path in missing)
    assert all(who in visitor.ids_at(path) for path, who in lists.items())
    decide(community.moderated, DecisionKind.SUSPEND)
    assert all(visitor.status_of(path) == 404 for path in missing)
    assert not [path for path, who in lists.items() if who in visitor.ids_at(path)]
    context = visitor.caller.get(f"{friends}/context").json()
    assert context == {"ancestors": [], "descendants": []}
    decide(community.moderated, DecisionKind.RESTORE)
    assert all(visitor.status_of(path) == 200 for path in missing)
    assert all(who in visitor.ids_at(path) for path, who in lists.items())


def test_counts_stay_what_they_are(community: Community) -> None:
    before = counts()
    decide(community.moderated, DecisionKind.SUSPEND)
    drain_all()
    assert counts() == before
    assert_drained_truth()


def test_nobody_begins_anything_with_them_but_lets_go(community: Community) -> None:
    decide(community.moderated, DecisionKind.SUSPEND)
    person = f"/api/v1/accounts/{community.moderated}"
    me, unrelated = Caller(community.me), Caller(community.unrelated)
    assert unrelated.post(f"{person}/follow").status_code == 404
    assert unrelated.post(f"{person}/mute").status_code == 404
    assert me.post(f"/api/v1/statuses/{community.theirs.public}/favourite").status_code == 404
    assert me.post(f"{person}/unfollow").json()["following"] is False
    assert me.post(f"/api/v1/accounts/{10**8}/unfollow").status_code == 404


def test_they_cannot_sign_in_and_their_tokens_are_refused(community: Community) -> None:
    token = token_of(community.moderated)
    assert find_viewer(token) is not None
    decide(community.moderated, DecisionKind.SUSPEND)
    assert is_disabled(token)
    decide(community.moderated, DecisionKind.RESTORE)
    assert find_viewer(token) is None, "the token ended; they must sign in again"
    assert find_viewer(token_of(community.moderated)) is not None


def test_their_clients_are_told_why(community: Community) -> None:
    """As Mastodon's are: clients that get 401 throw the account away, and ask for a new sign-in."""
    client = Caller(community.moderated)
    decide(community.moderated, DecisionKind.SUSPEND)
    refused = [
        client.get("/api/v1/timelines/home"),
        client.get("/api/v1/accounts/verify_credentials"),
        client.get("/api/v1/timelines/public"),
        client.post("/api/v1/statuses", {"status": "more"}),
    ]
    error = {"error": "Your login is currently disabled"}
    assert [(one.status_code, one.json()) for one in refused] == [(403, error)] * len(refused)
    decide(community.moderated, DecisionKind.RESTORE)
    assert client.get("/api/v1/timelines/home").status_code == 401


def test_a_page_costs_what_it_did(community: Community) -> None:
    """With and without a decision: one round trip if all is in memory, and no SQL."""
    drain_all()
    for _ in range(2):
        first_page(community.me)
    with count_calls() as calls:
        assert community.home() == community.whole_home
    assert (calls.round_trips, sum(calls.sql.values())) == (1, 0)
    decide(community.moderated, DecisionKind.SUSPEND)
    drain_all()
    for _ in range(2):
        community.home()
    with count_calls() as calls:
        assert community.home() == [community.friends.public]
    assert calls.round_trips <= 2
    assert sum(calls.sql.values()) == 0


def test_no_change_row_is_left_after_inline_delivery(community: Community) -> None:
    decide(community.moderated, DecisionKind.SUSPEND)
    drain_all()
    assert not any(Change.objects.on(alias).exists() for alias in all_aliases())


def test_restricted_before_there_was_a_row(world: None) -> None:
    """The shard was away at sign-up: the restriction finds no row, and is not lost."""

    def fail() -> None:
        raise ConnectionError

    arm("accounts.before_creating", fail)
    made = sign_up(NewUser("late", "late@example.org", "correct horse battery"), datetime.now(UTC))
    disarm("accounts.before_creating")
    decide(made, DecisionKind.SUSPEND)
    drain_all()
    assert Visitor().status_of(f"/api/v1/accounts/{made}") == 404
    decide(made, DecisionKind.RESTORE)
    assert Visitor(make_account()).status_of(f"/api/v1/accounts/{made}") == 200
