"""The short path answers as Django does: status, headers and body, for each GET of the API."""

import gc
import io
import sys
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import NamedTuple

import pytest
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import clear_script_prefix, resolve

from accounts.api.quotas import quotas
from accounts.models import AccessToken
from accounts.types import Restriction
from config import urls
from infra.sharding.bounded import breaker
from relations.actions.follow import follow
from tests.callers import token_of
from tests.reads import CLOCK
from tests.world import drain_all, make_account, make_accounts, publish, restrict
from web.middleware import LATENCY
from web.short_path import ShortPath

pytestmark = pytest.mark.slow

ID = "5f1c0000-1"
# Of the quota each of the two requests takes one.
COUNTED = "X-RateLimit-Remaining"


class Reply(NamedTuple):
    status: str
    headers: dict[str, str]
    body: bytes


class Town:
    """I follow a friend, who has posted, and who follows me."""

    def __init__(self):
        self.me, self.friend, self.frozen, self.banned, self.late = make_accounts(5)
        follow(self.me, self.friend)
        follow(self.friend, self.me)
        self.post = publish(self.friend).public
        publish(self.me)
        self.token, self.narrow = token_of(self.me), token_of(self.me, "write:media")
        self.bare, self.cold = token_of(None), token_of(self.frozen)
        self.gone, self.old = token_of(self.banned), token_of(self.late)
        restrict(self.frozen, Restriction.FROZEN)
        restrict(self.banned, Restriction.SUSPENDED)
        yesterday = datetime.now(UTC) - timedelta(days=1)
        AccessToken.objects.filter(user_id=self.late).update(expires=yesterday)
        drain_all()

    def path(self, path):
        """With an id of the right kind. A tag is not a number."""
        ids = {"/api/v1/statuses": self.post, "/api/v1/polls": self.post, "/api/v1/tags": "tag"}
        own = [one for prefix, one in ids.items() if path.startswith(prefix)]
        return path.replace("*", own[0] if own else str(self.friend))


@pytest.fixture(scope="module")
def django_application():
    return get_wsgi_application()


@pytest.fixture
def short(django_application):
    """Django keeps the prefix of a request for its thread, and later tests make addresses there."""
    yield ShortPath(django_application, urls.urlpatterns)
    clear_script_prefix()


@pytest.fixture
def town(world):
    return Town()


def ask(application, path, token=None, method="GET", query="", **variables):
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SCRIPT_NAME": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "10.1.2.3",
        "HTTP_HOST": "localhost",
        "HTTP_X_REQUEST_ID": ID,
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": sys.stderr,
    }
    if token is not None:
        environ["HTTP_AUTHORIZATION"] = token if " " in token else f"Bearer {token}"
    said = []
    parts = application(environ | variables, lambda status, headers: said.extend([status, headers]))
    body = b"".join(parts)
    if close := getattr(parts, "close", None):
        close()
    assert len({name.lower() for name, _ in said[1]}) == len(said[1]), "no header comes twice"
    return Reply(said[0], dict(said[1]), CLOCK.sub(b"", body))


CASES = {
    "good": lambda t: {"token": t.token},
    "no token": lambda t: {},
    "no scheme": lambda t: {"token": f"Basic {t.token}"},
    "lower-case scheme": lambda t: {"token": f"bearer {t.token}"},
    "empty token": lambda t: {"token": "Bearer "},
    "unknown": lambda t: {"token": "x" * 43},
    "expired": lambda t: {"token": t.old},
    "frozen": lambda t: {"token": t.cold},
    "suspended": lambda t: {"token": t.gone},
    "wrong scope": lambda t: {"token": t.narrow},
    "of an application": lambda t: {"token": t.bare},
    "cursor": lambda t: {"token": t.token, "query": f"max_id={t.post}&limit=3"},
    "foreign cursor": lambda t: {"token": t.token, "query": "max_id=-7"},
    "two cursors": lambda t: {"token": t.token, "query": "min_id=1&since_id=2&limit=40"},
    "bad limit": lambda t: {"token": t.token, "query": "limit=many"},
    "unknown parameter": lambda t: {"token": t.token, "query": "colour=blue&limit=2"},
    "ids": lambda t: {"token": t.token, "query": f"id[]={t.friend}&id%5B%5D={t.me}&id=1"},
    "only ids": lambda t: {"token": t.token, "query": f"id[]={t.friend}&id[]={t.me}"},
    "broken query": lambda t: {"token": t.token, "query": "%ff=%zz&&=&limit"},
    "origin": lambda t: {"token": t.token, "HTTP_ORIGIN": "https://reader.example"},
    "origin, error": lambda t: {"HTTP_ORIGIN": "null", "query": "max_id=-7"},
    "conditional": lambda t: {"token": t.token, "HTTP_IF_NONE_MATCH": 'W/"1", "x"'},
    "content type": lambda t: {"token": t.token, "CONTENT_TYPE": "text/x; charset=utf-16"},
    "body": lambda t: {"token": t.token, "CONTENT_LENGTH": "3", "wsgi.input": io.BytesIO(b"abc")},
    "body too long": lambda t: {"token": t.token, "CONTENT_LENGTH": "9" * 30},
    "head": lambda t: {"token": t.token, "method": "HEAD"},
    "put": lambda t: {"token": t.token, "method": "PUT"},
    "options": lambda t: {"method": "OPTIONS", "HTTP_ORIGIN": "https://reader.example"},
    "accept": lambda t: {"token": t.token, "HTTP_ACCEPT": "text/html"},
    "below a prefix": lambda t: {"token": t.token, "SCRIPT_NAME": "/social"},
}


def assert_same(short, django, path, **asked):
    """Some answers name the second of the request, without a pattern. So three attempts."""
    for _ in range(2):
        if differences(short, django, path, **asked) == []:
            return
    assert differences(short, django, path, **asked) == [], path


def differences(short, django, path, **asked):
    one, other = ask(short, path, **asked), ask(django, path, **asked)
    left = [reply.headers.pop(COUNTED, None) is None for reply in (one, other)]
    found = [] if left[0] == left[1] else [COUNTED]
    found += sorted({*one.headers.items()} ^ {*other.headers.items()})
    return found + [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]


def test_both_paths_answer_the_same(town, short, django_application):
    routes = [*short._exact, *short._by_shape]
    assert len(routes) > 25
    for case, route in product(CASES.values(), routes):
        assert_same(short, django_application, town.path(route), **case(town))


def test_a_client_that_has_the_answer_gets_304_on_both_paths(town, short, django_application):
    tagged = []
    for route in [*short._exact, *short._by_shape]:
        path = town.path(route)
        tag = ask(short, path, town.token).headers.get("ETag")
        if tag is not None:
            known = {"token": town.token, "HTTP_IF_NONE_MATCH": f'W/"1", {tag}'}
            assert ask(short, path, **known).status == "304 Not Modified", path
            assert_same(short, django_application, path, **known)
            tagged.append(path)
    status, author = f"/api/v1/statuses/{town.post}", f"/api/v1/accounts/{town.friend}/statuses"
    assert {"/api/v1/timelines/home", "/api/v1/timelines/public", status, author} <= {*tagged}


def test_both_paths_refuse_alike_when_the_quota_is_used_up(
    town, short, django_application, settings
):
    settings.QUOTA_PER_ACCOUNT = 1
    ask(short, "/api/v1/timelines/home", town.token)
    refused = set()
    for route in [*short._exact, *short._by_shape]:
        path = town.path(route)
        assert_same(short, django_application, path, token=town.token)
        if ask(short, path, town.token).status[:3] == "429":
            refused.add(route)
    assert len(refused) > 25
    assert {"/api/v1/timelines/home", "/api/v1/accounts/relationships"} <= refused


ODD_PATHS = (
    "/api/v1/timelines/home/",
    "/api/v1/timelines/home%2e",
    "/api/v1/accounts/99999",
    "/api/v1/accounts/00001",
    "/api/v1/accounts/x",
    "/api/v1/accounts/1/nothing",
    "/api/v1/accounts/1/statuses/2",
    "/api/v1/accounts/\u00c3\u00a9/statuses",
    "/api/v1/accounts//statuses",
    "/api/v1/statuses/zzzzzzzzzzzzz",
    "/api/v1/statuses/ZZ/context",
    "/api/v1/lists/1",
    "/api/v1",
    "//api/v1/timelines/home",
    "/",
    "",
)


def test_both_paths_answer_the_same_to_odd_paths(town, short, django_application):
    for path in ODD_PATHS:
        assert_same(short, django_application, path, token=town.token)


def test_a_quota_is_used_and_refuses_on_both_paths(town, short, django_application, settings):
    settings.QUOTA_PER_ACCOUNT = 3
    path = "/api/v1/timelines/home"
    answers = [ask(one, path, town.token) for one in (short, django_application, short, short)]
    assert [one.headers[COUNTED] for one in answers] == ["2", "1", "0", "0"]
    assert [one.status[:3] for one in answers] == ["200", "200", "200", "429"]
    refused = ask(django_application, path, town.token)
    assert refused == answers[-1]


def test_an_unexpected_error_is_the_same(town, short, django_application, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(quotas, "begin", fail)
    assert ask(short, "/api/v1/timelines/home", town.token).status[:3] == "500"
    assert_same(short, django_application, "/api/v1/timelines/home", token=town.token)


def test_plain_gets_take_the_short_path_and_all_else_does_not(town, django_application):
    asked = []

    def django(environ, start_response):
        asked.append(environ["PATH_INFO"])
        return django_application(environ, start_response)

    short = ShortPath(django, urls.urlpatterns)
    hot = ["timelines/home", "timelines/home/news", "accounts/relationships", "statuses/*"]
    hot += ["statuses/*/context", "accounts/*", "accounts/*/statuses", "accounts/*/followers"]
    for path in hot:
        ask(short, town.path(f"/api/v1/{path}"), town.token)
    assert asked == []
    others = ["/", "/api/docs", "/oauth/authorize", "/health/live", "/admin/"]
    for path in others:
        ask(short, path)
    assert asked == others


def test_each_route_is_the_one_that_django_finds(town, short):
    """A literal route of ours never hides an earlier one of Django's."""
    for path, route in [*short._exact.items(), *short._by_shape.items()]:
        found = resolve(town.path(path))
        assert (found.func, found.route) == (route.pattern.callback, route.match.route)


def test_every_get_without_or_with_one_id_is_a_route(short):
    known = {route.match.route for route in [*short._exact.values(), *short._by_shape.values()]}
    for one in ["api/v1/instance", "api/v1/lists", "api/v1/markers", "api/v1/lists/<str:list_id>"]:
        assert one in known


def test_requests_are_counted_under_the_same_route(town, short, django_application):
    def counted():
        series = LATENCY.labels("api/v1/accounts/<account:account_id>/statuses")
        return sum(bucket.get() for bucket in series._buckets)

    before = counted()
    for application in (short, django_application):
        ask(application, f"/api/v1/accounts/{town.friend}/statuses")
    assert counted() == before + 2


def test_a_request_begins_and_ends_for_its_connections(town, short, monkeypatch):
    """Broken ones are dropped at its begin; at its end those that others lack are closed."""
    monkeypatch.setattr(breaker, "_scarce_until", {})
    ask(short, f"/api/v1/accounts/{make_account()}", town.token)
    assert any(one.connection for one in connections.all(initialized_only=True))
    for alias in connections:
        breaker._note_refusal(alias)
    ask(short, "/api/v1/timelines/home", town.token)
    mine = [connections[alias].connection for alias in connections]
    assert not any(mine)


HOT = (
    "timelines/home",
    "timelines/home/news",
    "timelines/public",
    "accounts/relationships",
    "accounts/*",
    "accounts/*/statuses",
    "accounts/*/followers",
    "statuses/*",
    "statuses/*/context",
    "notifications",
)


def test_a_warm_request_leaves_no_cycle_to_the_garbage_collector(town, short):
    """A cycle per request makes the collector run every few hundred requests, for nothing else."""
    for path in (town.path(f"/api/v1/{path}") for path in HOT):
        for _ in range(3):
            ask(short, path, town.token)
        gc.collect()
        gc.disable()
        try:
            for _ in range(30):
                assert ask(short, path, town.token).status[:3] == "200"
            # A thread in the background may leave one meanwhile, but not one for each request.
            assert gc.collect() < 30, path
        finally:
            gc.enable()
