"""Many people sign in at the same moment: hashes are slow on purpose, and others do not wait."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from accounts import password_hasher
from accounts.models import User
from accounts.password_hasher import HashPlaces
from lab.load.connection import post_request
from lab.load.flood import flood
from tests.callers import token_of
from tests.faults.hung_world import environment_of, serving, warm_up
from tests.other_process import environment_of_this_test
from tests.paced_requests import Ask, Clients, percentile
from tests.people import cast
from tests.sign_ups import PASSWORD, App

HOME = "/api/v1/timelines/home"
TOKEN = "/oauth/token"
# Fewer than the unfinished bodies that an address may have, and than may wait for a hash.
SIGNING_IN = 14
PER_S, LASTING_S = 20, 4
# Of a web server: a request that waited longer for a thread is refused.
WAIT_S = 1.0


people = cast(12)


@pytest.fixture
def members(people):
    User.objects.filter(pk__in=people).update(password=make_password(PASSWORD))
    return people


@pytest.fixture
def sign_in(members):
    """The body of a sign-in with this name."""
    app = App.register(Client())
    form = {**app.credentials, "grant_type": "password", "password": PASSWORD, "scope": "read"}
    return lambda name: {**form, "username": name}


@pytest.fixture
def port(members, tmp_path):
    own = {"RUNTIME_DIR": str(tmp_path), "PASSWORD_HASHES": "1"}
    with serving(environment_of(environment_of_this_test() | own), tmp_path / "web.log") as port:
        yield port


def others(members):
    """Requests of people who are signed in."""
    for number, viewer in enumerate(members[:6]):
        token, other = token_of(viewer), members[number + 6]
        yield Ask("post", token, "/api/v1/statuses", "POST", {"status": "new"})
        yield Ask("follow", token, f"/api/v1/accounts/{other}/follow", "POST")
        yield Ask("home", token, HOME)


def test_follows_posts_and_pages_go_on_while_many_sign_in(members, sign_in, port):
    asks = list(others(members))
    request = post_request(TOKEN, "", sign_in(User.objects.get(pk=members[0]).username))
    with Clients(port) as clients, ThreadPoolExecutor(1) as crowd:
        warm_up(clients, asks, times=2)
        signing_in = crowd.submit(flood, port, request, SIGNING_IN, LASTING_S + 1, 60.0)
        answers = clients.paced(asks, PER_S, LASTING_S)
        seen = signing_in.result()
    assert {answer.status for answer in answers} == {200}
    assert percentile(answers, 0.9) < WAIT_S
    assert set(seen) <= {"200", "503"}
    assert seen["200"] >= 1, "those who wait get a turn"


def test_without_a_place_a_known_and_an_unknown_name_get_the_same_refusal(
    members, sign_in, port, tmp_path
):
    names = [User.objects.get(pk=members[0]).username, "nobody_knows"]
    asks = [Ask(name, "", TOKEN, "POST", sign_in(name)) for name in names]
    place = HashPlaces(tmp_path / "password-hashes", 1)
    with Clients(port) as clients:
        assert [clients.send(ask).status for ask in asks] == [200, 400]
        with place.taking():
            refused = [clients.send(ask) for ask in asks]
            home = clients.send(Ask("home", token_of(members[0]), HOME))
        assert [answer.status for answer in refused] == [503, 503]
        assert len({answer.content for answer in refused}) == 1
        assert all(answer.took_s >= password_hasher.WAIT_S for answer in refused)
        assert home.status == 200
        assert [clients.send(ask).status for ask in asks] == [200, 400]
