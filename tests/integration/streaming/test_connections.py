"""Who may listen, how many, and how connections end."""

import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from accounts.actions.tokens import end_tokens, issue_token
from accounts.api import quotas
from accounts.api.quotas import QUOTA_PERIOD_S
from accounts.models import AccessToken, Application
from accounts.queries import held_tokens, tokens
from accounts.types import Restriction
from infra.caching.quotas import Quotas
from relations.actions.follow import follow
from tests.callers import token_of
from tests.delivered import deliver_all
from tests.integration.streaming.listening import publish_marker, streaming_site
from tests.redis_away import redis_away
from tests.waiting import PATIENCE_S, until
from tests.world import flush_redis, make_account, make_accounts, publish, restrict
from web import draining
from web.streaming import connections, feed, subscriber


@pytest.fixture
def me(world):
    return make_account()


def test_health_is_answered(site):
    for path in ("/api/v1/streaming/health", "/health/live", "/health/ready"):
        answer = site.ask("GET", path)
        assert (answer.status, answer.text) == (200, "OK")


def test_bad_requests_get_an_error(site, me):
    for path, status in (
        ("nothing", 400),
        ("list", 400),
        ("hashtag", 400),
        ("", 404),
        ("user/notifications", 400),
    ):
        answer = site.listen(me, path)
        assert answer.status == status and '"error"' in answer.text, path
    assert site.listen(me, "list", list="x1").status == 400
    assert site.listen(me, "list", list="9" * 19).status == 404
    assert site.listen(me, "hashtag", tag="x" * 300).status == 400
    assert site.ask("POST", "/api/v1/streaming/user").status == 405
    assert site.ask("GET", "/api/v1/other").status == 404


@pytest.mark.parametrize("token", ["", "wrong", "x" * 5_000])
@pytest.mark.parametrize("path", ["user", "public"])
def test_without_a_token_there_is_no_stream(site, token, path):
    answer = site.listen(None, path, token=token)
    assert answer.status == 401


def test_a_token_needs_the_scope(site, me):
    assert site.listen(me, "user", scope="read:accounts").status == 403
    assert site.listen(me, "user/notification", scope="read:statuses").status == 403
    assert site.listen(me, "public", scope="read:accounts").status == 200


def test_an_applications_own_token_hears_only_open_streams(site, me):
    application = token_of(None, "read")
    assert site.listen(None, "public", token=application).status == 200
    assert site.listen(None, "user", token=application).status == 403


def test_a_page_of_this_site_listens_with_its_session(site, me, settings):
    cookie = {"cookie": f"tideline_session={token_of(me)}"}
    own = {"origin": settings.PUBLIC_URL, "sec-fetch-site": "same-site"}
    answer = site.listen(None, headers={**cookie, **own})
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == settings.PUBLIC_URL
    assert answer.headers["access-control-allow-credentials"] == "true"
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    answer = site.listen(None, headers={**cookie, **foreign})
    assert answer.status == 401 and answer.headers["access-control-allow-origin"] == "*"


def row_of(token):
    return AccessToken.objects.filter(token_checksum=sha256(token.encode()).hexdigest())


def end_soon(client, within_s=2.0):
    begin = time.monotonic()
    until(lambda: client.has_ended)
    return time.monotonic() - begin < within_s


def test_a_revoked_token_ends_its_streams(site, me):
    token = token_of(me)
    clients = [site.listen(me, token=token), site.connect(me, token=token, stream="user")]
    clients += [site.connect(me, token=token)]
    other = site.listen(me)
    end_tokens(row_of(token))
    assert all(end_soon(client) for client in clients)
    assert not other.has_ended


def test_a_suspended_accounts_streams_end(site, me):
    client = site.listen(me)
    restrict(me, Restriction.SUSPENDED)
    deliver_all()
    assert end_soon(client)


def test_a_token_that_runs_out_ends_its_streams(site, me):
    token = token_of(me)
    soon = datetime.now(UTC) + timedelta(seconds=1)
    row_of(token).update(expires=soon)
    client = site.listen(me, token=token)
    assert client.status == 200 and end_soon(client, 5)


def test_streams_survive_a_flushed_redis(site, me):
    author = make_account()
    follow(me, author)
    deliver_all()
    client = site.listen(me)
    flush_redis()
    time.sleep(1)
    publish_marker(site, author, client)
    assert not client.has_ended


def test_a_token_that_is_revoked_among_many_after_a_flush_ends_its_streams(site, me, monkeypatch):
    """Redis gets the tokens back a few at a time; that a token has ended is known at once."""
    monkeypatch.setattr(held_tokens, "BRING_BACK_S", -1)
    tokens_of_me = [token_of(me) for _ in range(40)]
    clients = [site.listen(me, token=token) for token in tokens_of_me]
    flush_redis()
    end_tokens(row_of(tokens_of_me[-1]))
    flush_redis()
    assert end_soon(clients[-1])
    assert not any(client.has_ended for client in clients[:-1])


def test_a_token_that_is_revoked_while_redis_is_away_ends_its_streams(site, me):
    token = token_of(me)
    client, other = site.listen(me, token=token), site.listen(me)
    with redis_away():
        end_tokens(row_of(token))
        assert end_soon(client)
        assert not other.has_ended


def test_a_full_process_refuses(world, me):
    with streaming_site(most=2) as small:
        kept = [small.listen(me), small.connect(me, stream="user")]
        answer = small.listen(me)
        assert answer.status == 503 and answer.headers["retry-after"]
        assert small.connect(me).status == 503
        kept[0].leave()
        until(lambda: small.listen(me).status == 200)


def test_one_account_cannot_take_all_room(site, me, monkeypatch):
    monkeypatch.setattr(connections, "MOST_OF_ACCOUNT", 2)
    for _ in range(2):
        site.listen(me)
    assert site.listen(me).status == 429
    assert site.listen(make_account()).status == 200


def test_applications_do_not_share_the_room_of_one(site, me, monkeypatch):
    monkeypatch.setattr(connections, "MOST_OF_ACCOUNT", 1)
    first, second = (make_application_token(name) for name in ("first", "second"))
    assert site.listen(None, "public", token=first).status == 200
    assert site.listen(None, "public", token=second).status == 200
    assert site.listen(None, "public", token=first).status == 429


def make_application_token(name):
    application = Application.objects.create(name=name, scopes="read", redirect_uris="x:y")
    expires = datetime.now(UTC) + timedelta(days=1)
    return issue_token(None, application.pk, "read", expires).token


@pytest.fixture
def refused(settings, monkeypatch):
    """Two refused tokens are the limit of an address. Returns the queries for tokens."""
    settings.QUOTA_PER_ADDRESS = 2
    monkeypatch.setattr(quotas.REFUSED_TOKENS, "_quotas", Quotas(QUOTA_PERIOD_S))
    queries, load = [], tokens._load
    monkeypatch.setattr(
        tokens, "_load", lambda checksum: queries.append(checksum) or load(checksum)
    )
    return queries


def test_an_address_pays_for_its_wrong_tokens(site, me, refused):
    answers = [site.listen(None, token=f"wrong {n}") for n in range(6)]
    assert [answer.status for answer in answers] == [401, 401, 429, 429, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert len(refused) <= 3
    assert site.connect(me, token="wrong").status == 429
    assert site.listen(me).status == 200


def test_another_address_does_not_pay(site, me, refused, settings):
    settings.TRUSTED_PROXIES = 1
    for _ in range(4):
        site.listen(None, token="wrong", headers={"x-forwarded-for": "192.0.2.1"})
    answer = site.listen(None, token="wrong", headers={"x-forwarded-for": "192.0.2.2"})
    assert answer.status == 401


def test_a_client_that_does_not_read_is_closed(site, me, monkeypatch):
    monkeypatch.setattr(subscriber, "MOST_WAITING", 5)
    author = make_account()
    follow(me, author)
    deliver_all()
    slow, quick = site.listen(me), site.listen(me)
    slow.stop_reading()
    for _ in range(10):
        publish_marker(site, author, quick)
    assert end_soon(slow) and not quick.has_ended


def test_a_process_that_drains_ends_its_streams_and_takes_none(site, me, monkeypatch):
    clients = [site.listen(me), site.connect(me, stream="user")]
    monkeypatch.setattr(draining._Shared, "byte", bytearray(1))
    draining.start_draining()
    assert all(end_soon(client, 5) for client in clients)
    assert clients[1].sent[-1]["code"] == 1013
    assert site.listen(me).status == 503
    assert site.ask("GET", "/api/v1/streaming/health").status == 503


def test_a_member_without_a_shard_comes_back_and_the_others_hear(site, me, monkeypatch):
    author, other = make_accounts(2)
    for account in (me, other):
        follow(account, author)
    deliver_all()
    mine, others = site.listen(me), site.listen(other)
    break_reads_of(monkeypatch, me)
    publish_marker(site, author, others)
    assert end_soon(mine) and not others.has_ended


def break_reads_of(monkeypatch, account_id):
    """The relationships of this account cannot be read: neither from Redis nor from its shard."""
    from django.db import OperationalError  # noqa: PLC0415

    from web.streaming import show  # noqa: PLC0415

    ask_viewer = show.ask_viewer

    def ask_or_fail(viewer_id, authors):
        question = ask_viewer(viewer_id, authors)
        return question if viewer_id != account_id else question.then(fail)

    def fail(_):
        raise OperationalError("away")

    monkeypatch.setattr(show, "ask_viewer", ask_or_fail)


def test_the_first_stream_wakes_a_process_that_rests(world, monkeypatch):
    """What was delivered while no client listened is no news to it."""
    monkeypatch.setattr(feed, "IDLE_S", PATIENCE_S)
    monkeypatch.setattr(feed, "CATCH_UP_S", PATIENCE_S)
    reader, author = make_accounts(2)
    follow(reader, author)
    deliver_all()
    with streaming_site() as site:
        for _ in range(2):  # it rests again when the last stream has left
            publish(author, "before")
            deliver_all()
            client = site.open(reader)
            client.await_sent("http.response.start")
            marker = publish_marker(site, author, client)
            assert [heard.post_id for heard in client.heard] == [marker]
            client.leave()
