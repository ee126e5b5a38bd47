"""The cost of tokens, and how soon they stop working."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from redis.exceptions import ConnectionError as RedisAway

from accounts import consumers
from accounts.cache import ENDED, KEPT_TOKEN_S, token_key
from accounts.models import AccessToken
from accounts.queries import tokens, viewers
from accounts.queries.viewers import find_viewer
from accounts.scopes import scopes_of
from accounts.token_tags import read_name
from accounts.types import Restriction
from infra.caching.client import redis
from infra.changes.failpoints import arm, disarm
from infra.confirmations import Outdated, confirm_now, confirming
from infra.sharding.bounded.breaker import breaker_of
from infra.sharding.placement import GLOBAL_ALIAS
from tests.api_process import ApiProcess
from tests.callers import is_disabled
from tests.clocks import Clock
from tests.races import failures, run_together
from tests.redis_away import redis_away, wait_for_redis
from tests.sign_ups import Person, bearer
from tests.world import restrict

LOADED = "accounts.token_loaded"
VERIFY = "/api/v1/accounts/verify_credentials"
UPDATE = "/api/v1/accounts/update_credentials"


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    disarm(LOADED)


def checksum(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def forget(token: str) -> None:
    """Like another process, which does not have the token in memory."""
    viewers._viewers.pop(checksum(token), None)
    viewers._doubted_until.pop(checksum(token), None)


def entry(token: str) -> Any:
    return redis().call("GET", token_key(checksum(token)))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that the test moves; each reading adds a microsecond."""
    clock = Clock()
    clock.now = time.monotonic()  # what is remembered here is compared with what others remember

    def tick() -> float:
        clock.now += 1e-6
        return clock.now

    behind_s = time.time() - clock.now
    standing_in = SimpleNamespace(monotonic=tick, time=lambda: tick() + behind_s)
    monkeypatch.setattr(viewers, "time", standing_in)
    return clock


class AwayRedis:
    reads_keys_together = True

    def call(self, *command: object) -> object:
        raise RedisAway("down")

    run = call


@contextmanager
def read_of(token: str) -> Iterator[None]:
    """What a request that reads does, between its token and its answer."""
    find_viewer(token)  # the first request of a process loads it, and the second one finds it
    with confirming():
        assert find_viewer(token) is not None
        yield
        confirm_now()


def test_a_known_token_costs_no_round_trip_of_its_own(member: Person, spending: Any) -> None:
    find_viewer(member.token)
    with read_of(member.token), spending() as spent:
        redis().call("GET", "anything")
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_a_token_that_a_process_meets_costs_no_round_trip_of_its_own(
    member: Person, spending: Any
) -> None:
    """It names its account. What the request then knows is what the database says."""
    known = find_viewer(member.token)
    forget(member.token)
    with confirming(), spending() as spent:
        assert find_viewer(member.token) == known
        redis().call("GET", "anything")
    assert (spent.queries, spent.round_trips) == ([], 1)
    with confirming():
        assert find_viewer(member.token) == known
        confirm_now()


def test_a_process_that_does_not_know_the_application_asks_first(
    member: Person, spending: Any
) -> None:
    """A request is charged by the quota of its application."""
    find_viewer(member.token)
    forget(member.token)
    viewers._applications.clear()
    with confirming(), spending() as spent:
        assert find_viewer(member.token) is not None
        assert spent.round_trips == 1


ENDS = {
    "revoked": (lambda one: one.app.revoke(one.token), 401, 401),
    "suspended": (lambda one: restrict(one.id, Restriction.SUSPENDED), 403, 403),
    "frozen": (lambda one: restrict(one.id, Restriction.FROZEN), 200, 403),
    "fewer scopes": (lambda one: _set_row(one, scope="write"), 403, 200),
    "another account": (lambda one: _set_row(one, user=None), 422, 422),
    "lost by Redis": (lambda one: redis().call("DEL", token_key(checksum(one.token))), 200, 200),
    "old in Redis": (lambda one: _age(one.token), 200, 200),
}


def _set_row(person: Person, **columns: Any) -> None:
    AccessToken.objects.filter(token_checksum=checksum(person.token)).update(**columns)
    redis().call("DEL", token_key(checksum(person.token)))


def _age(token: str) -> None:
    redis().call("PEXPIRE", token_key(checksum(token)), KEPT_TOKEN_S * 1000 - 1)


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("is_away", [False, True])
def test_a_name_gives_no_right(member: Person, name: str, is_away: bool) -> None:
    """A process that meets the token believes the row, not the name."""
    change, read_status, write_status = ENDS[name]
    assert member.verify().status_code == 200
    change(member)
    forget(member.token)
    with redis_away() if is_away else nullcontext():
        assert member.verify().status_code == read_status
        forget(member.token)
        client = Client(**bearer(member.token))
        assert client.patch(UPDATE, {}, "application/json").status_code == write_status
        assert member.verify().status_code == read_status


def test_a_name_that_this_site_did_not_write_names_nobody(member: Person) -> None:
    head, _, rest = member.token.partition(".")
    assert read_name(member.token) is not None
    for token in (f"{head}.AA{rest}", f"{head}..{rest}", f".{rest}", f"{head}.{rest[:-1]}", "."):
        assert read_name(token) is None
        assert Client(**bearer(token)).get(VERIFY).status_code == 401


def test_a_token_names_its_row(member: Person) -> None:
    """Also those of sign-ins, and when a token is renewed."""
    log_in = member.app.log_in("ann").json()
    refresh_token = log_in["refresh_token"]
    assert read_name(refresh_token) is None
    _check_name(member.token)
    _check_name(log_in["access_token"])
    renewed = member.app.ask_token(grant_type="refresh_token", refresh_token=refresh_token)
    _check_name(renewed.json()["access_token"])


def _check_name(token: str) -> None:
    viewer, name = find_viewer(token), read_name(token)
    assert viewer is not None and name is not None
    assert name[:3] == (viewer.token_id, viewer.account_id, viewer.application_id)
    assert scopes_of(name.scopes) == viewer.scopes


def test_a_request_that_asks_nothing_confirms_the_token_at_its_end(
    member: Person, spending: Any
) -> None:
    for _ in range(2):
        find_viewer(member.token)
    with confirming(), spending() as spent:
        assert find_viewer(member.token) is not None
        assert spent.round_trips == 0
        confirm_now()
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_a_request_whose_token_has_ended_begins_again(member: Person) -> None:
    find_viewer(member.token)
    with pytest.raises(Outdated), read_of(member.token):
        assert failures(run_together([lambda: member.app.revoke(member.token)])) == []
        redis().call("GET", "anything")
    assert find_viewer(member.token) is None


def test_a_write_asks_for_its_token_first(member: Person, spending: Any) -> None:
    """It must not change anything for a token that has ended."""
    find_viewer(member.token)
    with spending() as spent:
        assert find_viewer(member.token) is not None
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_a_warm_token_costs_one_round_trip_and_no_query(member: Person, spending: Any) -> None:
    find_viewer(member.token)
    forget(member.token)
    with spending() as spent:
        assert find_viewer(member.token) is not None
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_a_dead_token_is_remembered_too(world: None, spending: Any) -> None:
    assert find_viewer("nobody-has-this") is None
    with spending() as spent:
        assert find_viewer("nobody-has-this") is None
    assert (spent.queries, spent.round_trips) == ([], 1)


def test_the_token_itself_is_kept_nowhere(member: Person) -> None:
    find_viewer(member.token)
    everything = [
        part for key in redis().call("KEYS", "*") for part in (key, redis().call("DUMP", key))
    ]
    assert not any(member.token.encode() in part for part in everything if part)
    assert not AccessToken.objects.exclude(token="")
    assert member.token not in repr(viewers._viewers.items())


def test_a_revoked_token_is_refused_at_once_where_it_was_revoked(member: Person) -> None:
    assert member.verify().status_code == 200
    assert member.app.revoke(member.token).status_code == 200
    assert member.verify().status_code == 401


def test_a_revoked_token_is_refused_elsewhere_at_once(member: Person) -> None:
    with ApiProcess() as elsewhere:
        for _ in range(2):
            assert elsewhere.do("GET", member.token, VERIFY)[0] == 200
        member.app.revoke(member.token)
        assert elsewhere.do("GET", member.token, VERIFY)[0] == 401


def test_a_known_token_is_not_believed_without_redis(
    member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert member.verify().status_code == 200
    with redis_away():
        assert member.verify().status_code == 200, "the database knows it"
        member.app.revoke(member.token)
        assert member.verify().status_code == 401


def test_a_slow_reader_cannot_bring_a_revoked_token_back(member: Person) -> None:
    redis().call("DEL", token_key(checksum(member.token)))
    forget(member.token)
    # The row has been read as valid; the answer is not in Redis yet when the token ends.
    arm(LOADED, lambda: (disarm(LOADED), member.app.revoke(member.token)))
    assert find_viewer(member.token) is None
    assert entry(member.token) == b"%d:" % ENDED
    forget(member.token)
    assert find_viewer(member.token) is None


def test_a_tombstone_that_could_not_be_written_is_written_before_redis_is_used_again(
    member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_viewer(member.token)
    with monkeypatch.context() as patch:
        patch.setattr(consumers, "redis", AwayRedis)
        assert member.app.revoke(member.token).status_code == 200
        forget(member.token)
        assert find_viewer(member.token) is None  # from the row
    wait_for_redis()
    forget(member.token)
    assert find_viewer(member.token) is None


def test_without_redis_the_database_is_asked(
    member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(member.token)
    monkeypatch.setattr("infra.caching.questions.redis", AwayRedis)
    assert member.verify().status_code == 200
    member.app.revoke(member.token)
    assert member.verify().status_code == 401


def test_a_token_expires_on_time_whatever_is_cached(member: Person, clock: Clock) -> None:
    expires = datetime.fromtimestamp(viewers.time.time(), UTC) + timedelta(hours=1)
    AccessToken.objects.filter(token_checksum=checksum(member.token)).update(expires=expires)
    redis().call("DEL", token_key(checksum(member.token)))
    forget(member.token)
    clock.now += 3_600 - 0.4
    assert find_viewer(member.token) is not None
    clock.now += 0.4
    assert find_viewer(member.token) is None
    assert member.verify().status_code == 401


def test_suspending_disables_every_token_and_the_log_in(member: Person) -> None:
    log_in = member.app.log_in("ann").json()
    other, refresh_token = log_in["access_token"], log_in["refresh_token"]
    ann_id = member.id
    restrict(ann_id, Restriction.SUSPENDED)
    restrict(ann_id, Restriction.SUSPENDED)
    assert is_disabled(member.token)
    assert is_disabled(other)
    refresh = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    assert member.app.log_in("ann").json()["error"] == "invalid_grant"
    assert member.app.ask_token(**refresh).json()["error"] == "invalid_grant"
    restrict(ann_id, Restriction.NONE)
    assert find_viewer(member.token) is None
    assert find_viewer(other) is None
    assert member.app.ask_token(**refresh).json()["error"] == "invalid_grant"
    assert member.app.log_in("ann").status_code == 200


def test_a_suspended_users_row_is_no_token(member: Person) -> None:
    """A token may have been issued while the user was being suspended.

    Nor to a process of an older release, which looks at when it expires."""
    ann_id = member.id
    restrict(ann_id, Restriction.SUSPENDED)
    row = AccessToken(
        user_id=ann_id, application=None, scope="read", expires=datetime(2100, 1, 1, tzinfo=UTC)
    )
    row._raw_token = "late"
    row.save()
    assert is_disabled("late")
    facts = tokens.find_token(checksum("late"), lambda: None)
    assert facts is not None
    assert facts.expires_at == 0


def test_without_a_good_token_nobody_gets_in(client: Client) -> None:
    for headers, status, error in [
        ({}, 401, "The access token is invalid"),
        (bearer("nonsense"), 401, "The access token is invalid"),
        (bearer(""), 401, "The access token is invalid"),
        (bearer("é\x00" * 400), 401, "The access token is invalid"),
        ({"HTTP_AUTHORIZATION": "Basic YTpi"}, 401, "The access token is invalid"),
    ]:
        answer = client.get("/api/v1/accounts/verify_credentials", **headers)
        assert (answer.status_code, answer.json()) == (status, {"error": error}), (
            headers,
            status,
            error,
        )
        assert "WWW-Authenticate" in answer.headers, (headers, status, error)


def test_an_empty_token_is_that_of_a_guest(client: Client) -> None:
    """As Mastodon answers: go-mastodon sends it when it has no token."""
    for empty in ("Bearer", "Bearer ", "bearer  "):
        for path, status in (("/api/v1/timelines/public", 200), (VERIFY, 401)):
            assert client.get(path, HTTP_AUTHORIZATION=empty).status_code == status, (empty, path)
    assert client.get("/api/v1/timelines/public", **bearer("nonsense")).status_code == 401


def test_a_token_opens_what_its_scopes_say(member: Person) -> None:
    edit = "/api/v1/accounts/update_credentials"
    member.token = member.app.log_in("ann", "read").json()["access_token"]
    answer = member.patch(edit, display_name="x")
    assert answer.status_code == 403
    text = "This action is outside the authorized scopes: it needs write:accounts"
    assert answer.json() == {"error": text}
    member.token = member.app.log_in("ann", "write:accounts profile").json()["access_token"]
    assert member.patch(edit, display_name="x").status_code == 200
    assert member.verify().status_code == 200
    # Public, but a token that is sent must fit all the same.
    assert member.get(f"/api/v1/accounts/{member.id}").status_code == 403


def test_a_known_token_is_in_force_while_its_database_hangs(
    member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = token_key(checksum(member.token))
    assert find_viewer(member.token)
    redis().call("PEXPIRE", where, KEPT_TOKEN_S * 1000 - 1)
    with monkeypatch.context() as hanging:
        hanging.setattr(breaker_of(GLOBAL_ALIAS), "is_open", True)
        forget(member.token)
        assert find_viewer(member.token)
    assert redis().call("PTTL", where) < KEPT_TOKEN_S * 1000
    forget(member.token)
    assert find_viewer(member.token)
    assert redis().call("PTTL", where) > KEPT_TOKEN_S * 1000, "it was read again"


def test_an_unknown_token_is_not_kept_for_long(member: Person) -> None:
    assert find_viewer("unknown") is None
    assert redis().call("PTTL", token_key(checksum("unknown"))) < KEPT_TOKEN_S * 1000
