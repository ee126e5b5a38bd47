"""Nothing of a suspended account is to be seen at the next read, and all of it after restoring."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts.actions.sign_up import sign_up
from accounts.queries import in_process
from accounts.queries.viewers import find_viewer
from accounts.types import NewUser
from infra.caching.client import SingleClient, redis
from infra.changes.failpoints import arm, disarm
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from infra.sharding.placement import all_aliases
from moderation.types import DecisionKind
from posts.cache.in_process import in_process_posts
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import Caller, is_disabled, token_of
from tests.integration.moderation.people import Circle, Eyes, decide
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.truth import assert_drained_truth, counts
from tests.world import drain_all, find_live, make_account, publish
from timelines.hot import entries as entries_module
from timelines.hot.queries.hot_authors import list_hot_authors


@pytest.fixture
def circle(world: None) -> Circle:
    return Circle()


def by_push(circle: Circle) -> None:
    assert circle.home() == circle.whole_home
    assert find_live(circle.me) is not None


def by_pull(circle: Circle) -> None:
    """No live timeline, no index: from the posts tables."""
    redis().call("FLUSHDB")


def by_index(circle: Circle) -> None:
    call_command("backfill_recent_posts", verbosity=0)
    redis().call("FLUSHDB")


@pytest.mark.parametrize("way", [by_push, by_pull, by_index])
def test_home_has_nothing_of_them_and_everything_again(
    circle: Circle, way: Callable[[Circle], None]
) -> None:
    way(circle)
    decide(circle.judged, DecisionKind.SUSPEND)
    assert circle.home() == [circle.friends.public]
    assert read_to_end(circle.me) == read_from_bottom(circle.me) == [circle.friends.public]
    decide(circle.judged, DecisionKind.RESTORE)
    assert circle.home() == circle.whole_home


def test_home_has_nothing_of_a_hot_author(
    world: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.INLINE_FOLLOWERS, settings.HOT_FOLLOWERS, settings.CHUNK_FOLLOWERS = 1, 2, 1
    monkeypatch.setattr(entries_module, "COPY_S", -1.0)
    circle = Circle()
    follow(circle.stranger, circle.judged)
    publish(circle.judged)
    drain_all()
    assert circle.judged in list_hot_authors(shard_of(circle.judged))
    late = publish(circle.judged)
    drain_all()
    assert circle.home()[0] == late.public
    decide(circle.judged, DecisionKind.SUSPEND)
    assert circle.home() == [circle.friends.public]
    decide(circle.judged, DecisionKind.RESTORE)
    assert circle.home()[0] == late.public


def rebuild(circle: Circle) -> None:
    call_command("rebuild_timelines", "--all", verbosity=0)


def vacuum(circle: Circle) -> None:
    call_command("audit_timelines", "--repair", verbosity=0)


def replay(circle: Circle) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    call_command("replay_changes", "--since", long_ago, verbosity=0)


def flush(circle: Circle) -> None:
    redis().call("FLUSHDB")


def restart(circle: Circle) -> None:
    """Of a web process: it knows nothing."""
    in_process_posts.forget_all()


def backfill(circle: Circle) -> None:
    call_command("backfill_recent_posts", verbosity=0)


@pytest.mark.parametrize("what", [rebuild, vacuum, replay, flush, restart, backfill])
def test_it_stays_so_whatever_is_run(circle: Circle, what: Callable[[Circle], None]) -> None:
    assert circle.home() == circle.whole_home
    decide(circle.judged, DecisionKind.SUSPEND)
    drain_all()
    what(circle)
    assert circle.home() == [circle.friends.public]
    assert Eyes(circle.me).status_of(f"/api/v1/accounts/{circle.judged}") == 404
    drain_all()
    assert circle.home() == [circle.friends.public]
    decide(circle.judged, DecisionKind.RESTORE)
    what(circle)
    assert circle.home() == circle.whole_home


def test_suspended_and_restored_within_one_drain(circle: Circle) -> None:
    """What a change says may be old: the row is what it is now."""
    decide(circle.judged, DecisionKind.SUSPEND)
    decide(circle.judged, DecisionKind.RESTORE)
    decide(circle.judged, DecisionKind.SUSPEND)
    drain_all()
    replay(circle)
    assert circle.home() == [circle.friends.public]


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_nowhere_else_either(circle: Circle, is_signed_in: bool) -> None:
    eyes = Eyes(circle.me if is_signed_in else None)
    person, post = f"/api/v1/accounts/{circle.judged}", f"/api/v1/statuses/{circle.theirs.public}"
    friends = f"/api/v1/statuses/{circle.friends.public}"
    missing = [person, f"{person}/statuses", f"{person}/followers", post, f"{post}/context"]
    lists = {
        f"/api/v1/accounts/{circle.friend}/followers": str(circle.judged),
        f"/api/v1/accounts/{circle.friend}/following": str(circle.judged),
        f"/api/v1/accounts/{circle.friend}/statuses": circle.repost_of_theirs.public,
        f"{friends}/favourited_by": str(circle.judged),
        f"{friends}/reblogged_by": str(circle.judged),
        "/api/v1/timelines/public": circle.theirs.public,
        f"/api/v1/accounts?id[]={circle.judged}": str(circle.judged),
    }
    assert all(eyes.status_of(path) == 200 for path in missing)
    assert all(who in eyes.ids_at(path) for path, who in lists.items())
    decide(circle.judged, DecisionKind.SUSPEND)
    assert all(eyes.status_of(path) == 404 for path in missing)
    assert not [path for path, who in lists.items() if who in eyes.ids_at(path)]
    context = eyes.caller.get(f"{friends}/context").json()
    assert context == {"ancestors": [], "descendants": []}
    decide(circle.judged, DecisionKind.RESTORE)
    assert all(eyes.status_of(path) == 200 for path in missing)
    assert all(who in eyes.ids_at(path) for path, who in lists.items())


def test_counts_stay_what_they_are(circle: Circle) -> None:
    before = counts()
    decide(circle.judged, DecisionKind.SUSPEND)
    drain_all()
    assert counts() == before
    assert_drained_truth()


def test_nobody_begins_anything_with_them_but_lets_go(circle: Circle) -> None:
    decide(circle.judged, DecisionKind.SUSPEND)
    person = f"/api/v1/accounts/{circle.judged}"
    me, stranger = Caller(circle.me), Caller(circle.stranger)
    assert stranger.post(f"{person}/follow").status_code == 404
    assert stranger.post(f"{person}/mute").status_code == 404
    assert me.post(f"/api/v1/statuses/{circle.theirs.public}/favourite").status_code == 404
    assert me.post(f"{person}/unfollow").json()["following"] is False
    assert me.post(f"/api/v1/accounts/{10**8}/unfollow").status_code == 404


def test_they_cannot_sign_in_and_their_tokens_are_refused(circle: Circle) -> None:
    token = token_of(circle.judged)
    assert find_viewer(token) is not None
    decide(circle.judged, DecisionKind.SUSPEND)
    assert is_disabled(token)
    decide(circle.judged, DecisionKind.RESTORE)
    assert find_viewer(token) is None, "it ended; they sign in anew"
    assert find_viewer(token_of(circle.judged)) is not None


def test_their_clients_are_told_why(circle: Circle) -> None:
    """As Mastodon's are: clients that get 401 throw the account away, and ask for a new sign-in."""
    client = Caller(circle.judged)
    decide(circle.judged, DecisionKind.SUSPEND)
    refused = [
        client.get("/api/v1/timelines/home"),
        client.get("/api/v1/accounts/verify_credentials"),
        client.get("/api/v1/timelines/public"),
        client.post("/api/v1/statuses", {"status": "more"}),
    ]
    error = {"error": "Your login is currently disabled"}
    assert [(one.status_code, one.json()) for one in refused] == [(403, error)] * len(refused)
    decide(circle.judged, DecisionKind.RESTORE)
    assert client.get("/api/v1/timelines/home").status_code == 401


def test_a_card_that_missed_the_message_is_dropped_by_the_log(circle: Circle) -> None:
    """As in another process, whose connection to hear of changes is slow."""
    assert circle.home() == circle.whole_home
    stale = in_process._accounts.split([circle.judged]).known
    assert stale
    for path in (None, f"/api/v1/accounts/{circle.friend}/statuses"):
        decide(circle.judged, DecisionKind.SUSPEND)
        in_process._accounts._cache.update(stale)
        if path is None:
            assert circle.home() == [circle.friends.public]
        else:
            assert Eyes(circle.me).ids_at(path) == [circle.friends.public]
        decide(circle.judged, DecisionKind.RESTORE)
        assert circle.home() == circle.whole_home


def test_a_card_is_not_believed_without_redis(
    circle: Circle, monkeypatch: pytest.MonkeyPatch
) -> None:
    eyes = Eyes(circle.me)
    path = f"/api/v1/accounts/{circle.friend}/statuses"
    for _ in range(2):  # a process that begins keeps nothing of its first answer
        assert circle.repost_of_theirs.public in eyes.ids_at(path)
    assert in_process._accounts.split([circle.judged]).known

    def refuse(*_: object) -> None:
        raise RedisConnectionError

    with monkeypatch.context() as away:
        away.setattr(SingleClient, "run", refuse)
        with monkeypatch.context() as patch:
            patch.setattr(in_process._accounts, "forget", lambda _: None)
            decide(circle.judged, DecisionKind.SUSPEND)
        assert eyes.ids_at(path) == [circle.friends.public]


def test_a_page_costs_what_it_did(circle: Circle) -> None:
    """Nobody judged, or somebody: one round trip where all is in memory, and no SQL."""
    drain_all()
    for _ in range(2):
        first_page(circle.me)
    with count_calls() as calls:
        assert circle.home() == circle.whole_home
    assert (calls.round_trips, sum(calls.sql.values())) == (1, 0)
    decide(circle.judged, DecisionKind.SUSPEND)
    drain_all()
    for _ in range(2):
        circle.home()
    with count_calls() as calls:
        assert circle.home() == [circle.friends.public]
    assert calls.round_trips <= 2
    assert sum(calls.sql.values()) == 0


def test_no_row_is_left_of_what_was_served_at_once(circle: Circle) -> None:
    decide(circle.judged, DecisionKind.SUSPEND)
    drain_all()
    assert not any(Change.objects.on(alias).exists() for alias in all_aliases())


def test_restricted_before_there_was_a_row(world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shard was away when they signed up: the news found nothing, and is not lost."""

    def fail() -> None:
        raise ConnectionError

    arm("accounts.before_creating", fail)
    made = sign_up(NewUser("late", "late@example.org", "correct horse battery"), datetime.now(UTC))
    disarm("accounts.before_creating")
    decide(made, DecisionKind.SUSPEND)
    drain_all()
    assert Eyes().status_of(f"/api/v1/accounts/{made}") == 404
    decide(made, DecisionKind.RESTORE)
    assert Eyes(make_account()).status_of(f"/api/v1/accounts/{made}") == 200
