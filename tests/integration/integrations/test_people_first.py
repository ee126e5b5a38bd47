"""Bulk services let people go first while the site is slow."""

import time

import pytest
from django.test import Client

from accounts.models import Application
from infra.api.bulk_places import (
    LONGEST_WAIT_S,
    REST_S,
    SLOW_S,
    BulkPlaces,
    PeopleFirst,
    set_bulk_places,
)
from infra.deadline import ARRIVED
from integrations.api import schema, views
from integrations.positions import encode_position
from integrations.queries import events
from tests.callers import assert_refused
from tests.delivered import deliver_all
from tests.integration.integrations.services import Service
from tests.races import run_together
from tests.world import make_account, publish

SLOW = SLOW_S * 2


@pytest.fixture(autouse=True)
def places():
    set_bulk_places(1)
    yield
    set_bulk_places(1)


def test_quick_requests_have_no_limit():
    places, together = BulkPlaces(1), []
    places.serve(lambda: places.serve(lambda: together.append(2), None), None)
    assert together == [2]


def test_a_slow_one_bounds_those_after_it():
    places = BulkPlaces(1)

    def serve_while_slow():
        time.sleep(SLOW)
        with pytest.raises(PeopleFirst):
            places.serve(list, None)

    places.serve(serve_while_slow, None)
    # It has its place itself, and no second one until a while after.
    with pytest.raises(PeopleFirst):
        places.serve(lambda: places.serve(list, None), None)
    time.sleep(REST_S)
    assert places.serve(lambda: places.serve(lambda: 2, None), None) == 2


def test_an_error_gives_the_place_back():
    places = BulkPlaces(1)

    def fail():
        time.sleep(SLOW)
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            places.serve(fail, None)


def test_who_waited_for_a_thread_is_refused():
    places, now = BulkPlaces(4), time.monotonic()
    assert places.serve(lambda: 1, now) == 1
    with pytest.raises(PeopleFirst):
        places.serve(list, now - LONGEST_WAIT_S - 0.1)


def test_a_slow_store_refuses_bulk_services_only(world, monkeypatch):
    ann = make_account()
    read = views.read_mutuals

    def slow_read(account_id):
        time.sleep(SLOW)
        return read(account_id)

    monkeypatch.setattr(views, "read_mutuals", slow_read)
    path = f"/api/v1/services/mutuals/{ann}"
    bulk, core = Service(is_bulk=True), Service()
    assert bulk.get(path).status_code == core.get(path).status_code == 200

    def ask(service):
        return service.get(path)

    answers = run_together([lambda: ask(bulk)] * 4 + [lambda: ask(core)] * 4)
    assert [answer.status_code for answer in answers[4:]] == [200] * 4
    refused = [answer for answer in answers[:4] if answer.status_code != 200]
    assert len(refused) == 3
    for answer in refused:
        assert_refused(answer, 503)
        assert answer["Retry-After"] == "1"


def test_a_late_request_of_a_bulk_service_is_refused(world):
    ann, service = make_account(), Service(is_bulk=True)
    late = {ARRIVED: time.monotonic() - 1}
    for method in (service.client.get, service.client.post):
        headers = {"Tideline-Account": str(ann)}
        answer = method("/api/v1/statuses", headers=headers, **late)
        assert_refused(answer, 503)
    client = Client(headers={"Authorization": f"Bearer {Service().made.token}"})
    path = "/api/v1/timelines/home"
    assert client.get(path, headers={"Tideline-Account": str(ann)}, **late).status_code == 200


def test_the_operator_chooses(world):
    Service(is_bulk=True)
    assert Application.objects.filter(is_bulk=True).count() == 1


def test_a_bulk_service_reads_long_pages_of_events_part_by_part(world, monkeypatch):
    """With the same position and the same events as many short pages."""
    monkeypatch.setattr(events, "PART", 2)
    me = make_account()
    deliver_all()
    start, limits = encode_position(events.site_position_now()), []
    read_feed = events.read_feed
    monkeypatch.setattr(
        events, "read_feed", lambda *asked: limits.append(asked[2]) or read_feed(*asked)
    )
    made = [publish(me).public for _ in range(7)]
    deliver_all()
    path = f"/api/v1/services/events?after={start}&limit=10000"
    page = Service(is_bulk=True).get(path).json()
    assert [event["data"]["post_id"] for event in page["events"]] == made
    assert (page["has_more"], {*limits}) == (False, {2})
    rest = Service().get(f"/api/v1/services/events?after={page['position']}").json()
    assert rest["events"] == []


def test_only_bulk_services_have_long_pages(world, monkeypatch):
    monkeypatch.setattr(schema, "MOST_EVENTS", 2)
    monkeypatch.setattr(schema, "MOST_BULK_EVENTS", 4)
    me = make_account()
    deliver_all()
    start = encode_position(events.site_position_now())
    for _ in range(5):
        publish(me)
    deliver_all()
    path = f"/api/v1/services/events?after={start}&limit=9"
    sizes = [len(Service(is_bulk=b).get(path).json()["events"]) for b in (False, True)]
    assert sizes == [2, 4]
