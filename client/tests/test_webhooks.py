"""The view for Tideline's webhooks: who signed it, when, and how often it is handled."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from standardwebhooks.webhooks import Webhook

from tideline_client.contrib.django import webhooks
from tideline_client.contrib.django.models import ReceivedMessage
from tideline_client.contrib.django.webhooks import event_received

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_NfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PATH = "/tideline/webhook"
EVENT = {
    "id": "shard2-5120",
    "type": "post.deleted",
    "timestamp": "2026-11-27T18:00:00.123456+00:00",
    "data": {"account_id": "7", "post_id": "1861168195865963607984"},
}
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def secret(settings):
    settings.TIDELINE = settings.TIDELINE | {"WEBHOOK_SECRET": SECRET}


@pytest.fixture
def received():
    events = []

    def take(event, **_):
        events.append(event)

    event_received.connect(take)
    yield events
    event_received.disconnect(take)


def signed(body, secret=SECRET, message="shard2-5120", age=timedelta()):
    at = datetime.now(UTC) - age
    return {
        "webhook-id": message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(message, at, body),
    }


def send(event=EVENT, headers=None, raises=True, **options):
    body = event if isinstance(event, str) else json.dumps(event)
    client = Client(raise_request_exception=raises)
    headers = signed(body, **options) if headers is None else headers
    return client.post(PATH, body, content_type="application/json", headers=headers)


def test_an_event_reaches_its_receivers_once(received):
    assert send().status_code == 204
    assert send().status_code == 204
    [event] = received
    assert (event.id, event.type, event.data["account_id"]) == ("shard2-5120", "post.deleted", "7")
    assert event.timestamp.year == 2026
    assert send(EVENT | {"id": "b"}, message="b").status_code == 204
    assert len(received) == 2


def test_two_signatures_as_in_a_rotation(received):
    headers = signed(json.dumps(EVENT), OTHER)
    good = signed(json.dumps(EVENT))
    headers |= {"webhook-signature": f"{headers['webhook-signature']} {good['webhook-signature']}"}
    assert send(headers=headers).status_code == 204
    assert len(received) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": "v1"},
        {"webhook-signature": "v1,*"},
        {"webhook-signature": ""},
        {"webhook-id": "another"},
        {"webhook-timestamp": "0"},
        {"webhook-timestamp": "soon"},
    ],
)
def test_what_is_not_signed_is_refused(received, changes):
    headers = signed(json.dumps(EVENT)) | changes
    assert send(headers=headers).status_code == 400
    assert send(headers={}).status_code == 400
    assert received == []
    assert not ReceivedMessage.objects.exists()


def test_another_secret_is_refused(received):
    assert send(secret=OTHER).status_code == 400
    assert received == []


@pytest.mark.parametrize("minutes", [6, -6])
def test_an_old_message_is_not_replayed(received, minutes):
    assert send(age=timedelta(minutes=minutes)).status_code == 400
    assert send(age=timedelta(minutes=minutes * 0.8)).status_code == 204
    assert len(received) == 1


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"id": 1}', "\x00"])
def test_a_signed_message_that_is_no_event_is_refused(received, body):
    assert send(body).status_code == 400
    assert received == []


def test_only_posts():
    assert Client().get(PATH).status_code == 405


def test_a_receiver_that_fails_gets_it_again(received):
    def fail(event, **_):
        User.objects.create_user("written")
        raise ZeroDivisionError

    event_received.connect(fail)
    try:
        assert send(raises=False).status_code == 500
    finally:
        event_received.disconnect(fail)
    assert not User.objects.exists(), "what a receiver wrote is undone with the message"
    received.clear()
    assert send().status_code == 204
    assert len(received) == 1


def test_old_ids_are_forgotten(received):
    old = webhooks.now() - webhooks.KEPT - timedelta(seconds=1)
    ReceivedMessage.objects.create(id="old", received_at=old)
    send()
    assert [row.id for row in ReceivedMessage.objects.all()] == ["shard2-5120"]


@pytest.mark.parametrize("odd", ["whsec_a", "whsec_é"])
def test_a_secret_that_is_none_is_the_fault_of_this_product(settings, received, odd):
    settings.TIDELINE = settings.TIDELINE | {"WEBHOOK_SECRET": odd}
    with pytest.raises(ImproperlyConfigured, match="WEBHOOK_SECRET"):
        send()
    assert received == []
