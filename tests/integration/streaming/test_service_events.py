"""The change feed as a stream for services."""

import json
import threading
from datetime import UTC, datetime

import pytest

from accounts.actions.tokens import end_tokens
from accounts.models import AccessToken
from infra.changes.errors import PositionLost, PositionTooOld
from relations.actions.follow import follow
from tests.callers import Caller, token_of
from tests.delivered import deliver_all
from tests.integration.integrations.services import Service
from tests.waiting import until
from tests.world import make_account, make_accounts, publish
from web.streaming import service_events

PATH = "services/events"
SCOPE = "service:changes"


@pytest.fixture
def listen(site):
    """Opens a stream as a service."""

    def listen(last_id="", **parameters):
        return site.listen(None, PATH, last_id, token=token_of(None, SCOPE), **parameters)

    return listen


def types_of(client, account_id):
    return [
        heard.event
        for heard in client.heard
        if json.loads(heard.payload)["data"].get("account_id") == str(account_id)
    ]


def act(me, other):
    publish(me)
    follow(me, other)
    deliver_all()


def test_events_come_by_themselves_as_the_feed_has_them(listen):
    me, other = make_accounts(2)
    deliver_all()
    before = Caller(None, SCOPE).get("/api/v1/services/events").json()["position"]
    client = listen()
    act(me, other)
    until(lambda: len(types_of(client, me)) == 2)
    assert sorted(types_of(client, me)) == ["post.created", "relation.changed"]
    pulled = Caller(None, SCOPE).get("/api/v1/services/events", {"after": before}).json()["events"]
    heard = [json.loads(each.payload) for each in client.heard]
    assert sorted(heard, key=str) == sorted(pulled, key=str)


def test_a_service_goes_on_where_it_was(listen):
    me, other = make_accounts(2)
    deliver_all()
    client = listen()
    act(me, other)
    until(lambda: len(types_of(client, me)) == 2)
    client.leave()
    missed = publish(me).public
    deliver_all()
    again = listen(client.last_id)
    until(lambda: again.heard)
    assert [json.loads(each.payload)["data"]["post_id"] for each in again.heard] == [missed]
    pulled = Caller(None, SCOPE).get("/api/v1/services/events", {"after": client.last_id}).json()
    assert [each["data"]["post_id"] for each in pulled["events"]] == [missed]


def test_a_page_that_was_cut_comes_again(listen):
    """Only its last event moves the service."""
    me = make_account()
    deliver_all()
    position = listen().last_id
    for _ in range(3):
        publish(me)
    deliver_all()
    client = listen(position)
    until(lambda: len(client.heard) == 3)
    ids = [each.id for each in client.heard if each.id]
    assert ids and ids[-1] == client.heard[-1].id


def test_one_answer_waits_for_the_next_events(listen, monkeypatch):
    me = make_account()
    deliver_all()
    position = listen().last_id
    publish(me)
    deliver_all()
    answer = listen(after=position, wait="30")
    until(lambda: answer.has_ended)
    page = json.loads(answer.text)
    assert [each["type"] for each in page["events"]] == ["post.created"]
    empty = listen(after=page["position"], wait="1")
    until(lambda: empty.has_ended)
    assert json.loads(empty.text)["events"] == []


@pytest.mark.parametrize("scope", ["read", "service:relations"])
def test_it_needs_the_scope(site, scope):
    assert site.listen(make_account(), PATH).status == 403
    assert site.listen(None, PATH, token=token_of(None, scope)).status == 403


@pytest.mark.parametrize(
    "parameters", [{"after": "nonsense"}, {"wait": "x"}, {"wait": "61"}, {"wait": "-1"}]
)
def test_bad_parameters_are_refused(listen, parameters):
    assert listen(**parameters).status == (400 if "after" in parameters else 422)


@pytest.mark.parametrize("error", [PositionTooOld, PositionLost])
def test_a_position_that_is_gone_is_an_error_with_a_name(listen, monkeypatch, error):
    client = listen()

    def read(*_):
        raise error

    monkeypatch.setattr(service_events, "read_events", read)
    refused = listen()
    assert refused.status == 410 and json.loads(refused.text)["code"] == error.code
    until(lambda: client.has_ended)
    [heard] = client.heard
    assert heard.event == "error" and json.loads(heard.payload)["code"] == error.code


def test_a_revoked_token_ends_the_stream(site):
    token = token_of(None, SCOPE)
    client = site.listen(None, PATH, token=token)
    end_tokens(AccessToken.objects.filter(created__lte=datetime.now(UTC)))
    until(lambda: client.has_ended)


def test_only_bulk_services_wait_for_bulk_services(site, monkeypatch):
    """One that reads all that is kept has the thread of bulk services for as long as it likes."""
    may_go_on, read = threading.Event(), service_events.read_events

    def read_slowly(*asked):
        if threading.current_thread().name.startswith("bulk"):
            may_go_on.wait(60)
        return read(*asked)

    monkeypatch.setattr(service_events, "read_events", read_slowly)
    me, other = make_accounts(2)
    deliver_all()
    bulk = site.open(None, PATH, token=Service(SCOPE, is_bulk=True).made.token)
    second = site.open(None, PATH, token=Service(SCOPE, is_bulk=True).made.token)
    core = site.listen(None, PATH, token=Service(SCOPE).made.token)
    people = [site.listen(me) for _ in range(12)]
    act(me, other)
    until(lambda: len(types_of(core, me)) == 2)
    assert {client.status for client in people} == {200}
    assert not bulk.sent and not second.sent
    may_go_on.set()
    until(lambda: bulk.text and second.text)
