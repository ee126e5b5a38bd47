"""Quick GETs in a shared thread: the same answers, shared round trips, and never a statement."""

import re
from itertools import product

import pytest
from django.core.wsgi import get_wsgi_application
from django.urls import clear_script_prefix

from config import urls
from infra.caching.client import redis
from infra.shared_thread import SharedThread
from lab.accept.routes import iter_endpoints
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import token_of
from tests.integration.config.test_short_path import CASES, COUNTED, Town, ask, assert_same
from tests.world import drain_all, forget_memory, make_account, make_accounts, publish
from web.short_path import ShortPath

HOME = "/api/v1/timelines/home"
QUICK = sorted(
    "/" + re.sub("<.*?>", "*", route.path) for route, view in iter_endpoints() if view.is_quick
)


class SharedApplication:
    """Serves each request in a shared thread, as the web server does. `left`: handed over."""

    def __init__(self, application):
        self._application = application
        self.left = []

    def __call__(self, environ, start_response):
        return self.serve([(environ, start_response)])[0]

    def serve(self, requests):
        answers, left = {}, []

        def answer(number):
            answers[number] = self._application(*requests[number])

        thread = SharedThread(answer, left.append)
        works = range(len(requests))
        while thread.turn(works):
            works = ()
        self.left += [requests[number][0]["PATH_INFO"] for number in left]
        for number in left:
            answer(number)
        return [answers[number] for number in range(len(requests))]


@pytest.fixture(autouse=True)
def no_prefix():
    """Django keeps the prefix of the last request for what is asked without a request."""
    yield
    clear_script_prefix()


@pytest.fixture(scope="module")
def django_application():
    return get_wsgi_application()


@pytest.fixture
def short(django_application):
    return ShortPath(django_application, urls.urlpatterns)


@pytest.fixture
def shared(short):
    return SharedApplication(short)


@pytest.fixture
def town(world):
    return Town()


def test_the_short_path_knows_which_routes_are_quick(short):
    routes = [*short._exact.items(), *short._by_shape.items()]
    assert sorted(path for path, route in routes if route.endpoint.is_quick) == QUICK
    assert short.is_quick("/api/v1/accounts/17/statuses")
    assert not short.is_quick("/api/v1/accounts/17/lists")
    assert not short.is_quick("/")


def test_the_answers_are_the_same(town, shared, django_application):
    for case, route in product(CASES.values(), QUICK):
        assert_same(shared, django_application, town.path(route), **case(town))


def home_of(reader):
    """What the web server gives to the application."""
    found = {}

    def keep(environ, start_response):
        found["environ"] = environ
        start_response("200 OK", [])
        return []

    ask(keep, HOME, token_of(reader))
    return found["environ"], lambda status, headers: None


def test_warm_pages_of_eight_readers_share_one_round_trip(world, shared):
    author, *readers = make_accounts(9)
    for reader in readers:
        follow(reader, author)
    post = publish(author).public.encode()
    drain_all()
    requests = [home_of(reader) for reader in readers]
    for _ in range(3):
        shared.serve(requests)
    shared.left.clear()
    with count_calls() as calls:
        answers = shared.serve(requests)
    assert (calls.round_trips, calls.statements, shared.left) == (1, [], [])
    assert all(post in parts[0] for parts in answers)


@pytest.mark.parametrize("route", QUICK)
@pytest.mark.parametrize("redis_has_it", [True, False])
def test_no_database_is_asked_in_the_shared_thread(town, short, route, redis_has_it):
    forget_memory()
    if not redis_has_it:
        redis().call("FLUSHDB")
    requests, statuses, left = [], [], []
    query = f"id[]={town.friend}" if route.endswith("relationships") else ""
    ask(
        lambda environ, _: requests.append(environ) or _("200 OK", []) or [],
        town.path(route),
        town.token,
        query=query,
    )

    def serve(environ):
        short(environ, lambda status, headers: statuses.append(status))

    thread = SharedThread(serve, left.append)
    with count_calls() as calls:
        works = requests
        while thread.turn(works):
            works = []
    assert calls.statements == []
    assert len(left) + len(statuses) == 1
    serve(requests[0])
    assert statuses[-1] == "200 OK"


def test_a_request_that_is_handed_over_is_charged_once(world, shared):
    me = make_account()
    publish(me)
    drain_all()
    token = token_of(me)
    first = ask(shared, HOME, token)
    assert shared.left == [HOME]
    forget_memory()
    redis().call("DEL", *redis().call("KEYS", "timelines.*"))
    shared.left.clear()
    second = ask(shared, HOME, token)
    assert shared.left == [HOME]
    assert int(second.headers[COUNTED]) == int(first.headers[COUNTED]) - 1


def test_a_poll_is_handed_over_before_it_reads_anything(town, shared):
    ask(shared, HOME, town.token)
    shared.left.clear()
    ask(shared, HOME, town.token, query=f"since_id={town.post}")
    assert shared.left == [HOME]
